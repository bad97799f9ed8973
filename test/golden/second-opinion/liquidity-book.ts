import type { DexEvent } from '../../../src/dex/events.ts'
import { high, inOrder, low, type Opinion, opinion, packedTotal, swapped } from './opinion.ts'

type Swap = {
  sender: string
  to: string
  id: number
  amountsIn: string
  amountsOut: string
  totalFees: string
  protocolFees: string
}
type Place = { address: string }

const swap = (args: Swap, { address }: Place): DexEvent => {
  const { sender, to: recipient, id, amountsIn, amountsOut, totalFees, protocolFees } = args
  // The event reports the amounts without the protocol's share.
  const in0 = low(amountsIn) + low(protocolFees)
  const in1 = high(amountsIn) + high(protocolFees)
  const feePpm = Number(((low(totalFees) + high(totalFees)) * 1_000_000n) / (in0 + in1))
  const rest = { sender, recipient, price: { kind: 'bin', id }, feePpm } as const
  return swapped(address, in0 - low(amountsOut), in1 - high(amountsOut), rest)
}

export const traderJoeLb: readonly Opinion[] = [
  opinion<{ tokenX: string; tokenY: string; binStep: bigint; LBPair: string }>(
    'LBPairCreated(address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address LBPair, uint256 pid)',
    ({ tokenX, tokenY, binStep, LBPair: pool }) => {
      const pricing = { kind: 'bins', binStep: Number(binStep) } as const
      return { type: 'poolCreated', pool, tokens: [tokenX, tokenY], pricing }
    },
  ),
  opinion(
    'Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)',
    swap,
  ),
  opinion<{ to: string; amounts: readonly string[] }>(
    'DepositedToBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)',
    ({ to: provider, amounts }, { address: pool }) => {
      return { type: 'liquidityAdded', pool, provider, amounts: inOrder(...packedTotal(amounts)) }
    },
  ),
  opinion<{ to: string; amounts: readonly string[] }>(
    'WithdrawnFromBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts)',
    ({ to: provider, amounts }, { address: pool }) => {
      return {
        type: 'liquidityRemoved',
        pool,
        provider,
        amounts: inOrder(...packedTotal(amounts)),
        isPaidOut: true,
      }
    },
  ),
  opinion<{ protocolFees: string }>(
    'CompositionFees(address indexed sender, uint24 id, bytes32 totalFees, bytes32 protocolFees)',
    ({ protocolFees }, { address: pool }) => {
      return { type: 'donated', pool, amounts: inOrder(low(protocolFees), high(protocolFees)) }
    },
  ),
  opinion<{ totalFees: string }>(
    'FlashLoan(address indexed sender, address indexed receiver, uint24 activeId, bytes32 amounts, bytes32 totalFees, bytes32 protocolFees)',
    ({ totalFees }, { address: pool }) => {
      return { type: 'donated', pool, amounts: inOrder(low(totalFees), high(totalFees)) }
    },
  ),
  opinion<{ protocolFees: string }>(
    'CollectedProtocolFees(address indexed feeRecipient, bytes32 protocolFees)',
    ({ protocolFees }, { address: pool }) => {
      const amounts = inOrder(low(protocolFees), high(protocolFees))
      return { type: 'feesCollected', pool, provider: undefined, amounts }
    },
  ),
]
