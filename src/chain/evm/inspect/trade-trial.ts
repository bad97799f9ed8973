import {
  decodeFunctionResult,
  encodeFunctionData,
  encodePacked,
  type Hex,
  hexToBytes,
  keccak256,
  maxUint256,
  parseAbi,
  toHex,
} from 'viem'
import { uintAt } from '../../../dex/evm/abi.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { TradeTrial, TrialMethod, TrialStep, UntriedReason } from '../../../domain/inspection.ts'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import type { EvmNode } from '../rpc/rpc.ts'
import type { CallOutcome, SimulatedCall, StateOverrides } from '../rpc/state-rpc.ts'
import { CURVE, type Market, type MarketPair, readMarket } from './market.ts'
import { FUNDS, pretendedFunds } from './pretended-funds.ts'
import { TRADER_CODE } from './trader-code.ts'
import { type Moved, type Purchase, readBuy, readSell, readTransfer } from './trial-steps.ts'

export type TrialRequest = {
  readonly token: string
  readonly block: { readonly number: number; readonly hash: string; readonly time: number }
  readonly pair: MarketPair
}

/** A request whose pool was read. */
type Trial = TrialRequest & { readonly market: Market }

const TRADER = parseAbi([
  'struct Market { uint8 kind; address pool; address vault; address token; address quote; uint256 amount; bool hasHooks; bytes4 opening; bytes swap; }',
  'function buy(Market market)',
  'function sell(Market market)',
  'function tradeAll(Market market, address wallet, address friend) returns (bool[3] oks, bytes[3] answers)',
])
const TOKEN = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function balanceOf(address holder)',
])
const CALL_GAS = toHex(4_000_000)
const ALL_GAS = toHex(25_000_000)
/** Longer than the cooldown of honest tokens. */
const BETWEEN_BLOCKS_SECONDS = 600
const MANY_COINS = toHex(10n ** 24n)

/** The participants. Their addresses are unused, and no token can know them before the block exists. */
type Actors = { readonly trader: Hex; readonly buyer: Hex; readonly friend: Hex; readonly operator: Hex }

/** Simulates a purchase, a transfer and a sale by fresh addresses, in a state that is discarded. */
export async function tryTrade(
  node: EvmNode,
  request: TrialRequest,
  method: TrialMethod,
): Promise<TradeTrial | UntriedReason> {
  const market = await readMarket(node, request)
  if (typeof market === 'string') return market
  const trial = { ...request, market }
  return method === 'simulate' ? trySimulated(node, trial) : tryCalled(node, trial)
}

/** As wallets trade: transactions of accounts without code, in blocks ten minutes apart. */
async function trySimulated(node: EvmNode, request: Trial): Promise<TradeTrial | UntriedReason> {
  const { token, block, market } = request
  const actors = actorsOf(request)
  const { buyer, friend, trader } = actors
  const from = (sender: Hex, to: string, input: Hex): SimulatedCall => ({
    from: sender,
    to: to as Hex,
    input,
    gas: CALL_GAS,
  })
  const approve = encodeFunctionData({ abi: TOKEN, functionName: 'approve', args: [trader, maxUint256] })
  const balanceOf = (holder: Hex) =>
    from(buyer, token, encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [holder] }))
  const blockAt = (place: number, calls: readonly SimulatedCall[]) => ({
    blockOverrides: {
      number: toHex(block.number + place),
      time: toHex(block.time + place * BETWEEN_BLOCKS_SECONDS),
    },
    ...(place === 1 && { stateOverrides: overridesOf(request, actors, 'simulate') }),
    calls,
  })
  const buying = blockAt(1, [
    from(buyer, request.pair.quote, approve),
    from(buyer, trader, encodeFunctionData({ abi: TRADER, functionName: 'buy', args: [market] })),
  ])
  // The amount bought, and so the amount to transfer, is known only afterwards.
  const first = await node.simulate([buying], block.hash)
  if (first === undefined) return 'refused'
  const bought = readBuy(outcomeAt(first, 0, 1))
  if (typeof bought === 'string') return bought
  if (!bought.step.works) return { ...tried(request, 'simulate'), buy: bought.step }
  const half = encodeFunctionData({
    abi: TOKEN,
    functionName: 'transfer',
    args: [friend, bought.receivedRaw / 2n],
  })
  const sell = encodeFunctionData({ abi: TRADER, functionName: 'sell', args: [market] })
  const moving = blockAt(2, [
    balanceOf(buyer),
    balanceOf(friend),
    from(buyer, token, half),
    balanceOf(buyer),
    balanceOf(friend),
  ])
  const selling = blockAt(3, [from(buyer, token, approve), from(buyer, trader, sell)])
  const all = await node.simulate([buying, moving, selling], block.hash)
  if (all === undefined) return 'refused'
  const balance = (place: number) => uintAt(hexToBytes(outcomeAt(all, 1, place).data), 0) ?? 0n
  const moved = movedOf([0, 1, 3, 4].map(balance))
  if (market.kind === CURVE) return onCurve(tried(request, 'simulate'), bought, outcomeAt(all, 2, 1))
  return {
    ...tried(request, 'simulate'),
    buy: bought.step,
    transfer: readTransfer(outcomeAt(all, 1, 2), moved),
    sell: readSell(outcomeAt(all, 2, 1), moved.leftRaw, market.hasHooks ? bought : undefined),
  }
}

/** For nodes without simulation: all in one call, so in one block, with contracts as wallets. */
async function tryCalled(node: EvmNode, request: Trial): Promise<TradeTrial | UntriedReason> {
  const actors = actorsOf(request)
  const input = encodeFunctionData({
    abi: TRADER,
    functionName: 'tradeAll',
    args: [request.market, actors.buyer, actors.friend],
  })
  const call = { from: actors.operator, to: actors.trader, input, gas: ALL_GAS }
  const answer = await node.callPretending(call, overridesOf(request, actors, 'call'), request.block.hash)
  if (answer === undefined) return 'refused'
  const [bought, transferred, sold] = readAll(answer)
  const purchase = readBuy(bought)
  if (typeof purchase === 'string') return purchase
  if (!purchase.step.works) return { ...tried(request, 'call'), buy: withoutGas(purchase.step) }
  if (request.market.kind === CURVE) return onCurve(tried(request, 'call'), purchase, sold)
  const words = hexToBytes(transferred.data)
  const word = (place: number) => (transferred.ok ? (uintAt(words, place) ?? 0n) : 0n)
  const moved = movedOf([0, 1, 2, 3].map(word))
  const sell = readSell(sold, moved.leftRaw, request.market.hasHooks ? purchase : undefined)
  return {
    ...tried(request, 'call'),
    buy: withoutGas(purchase.step),
    transfer: withoutGas(
      readTransfer({ ...transferred, data: transferred.ok ? '0x' : transferred.data }, moved),
    ),
    sell: sell && withoutGas(sell),
  }
}

/**
 * The platform decides about transfers, and about fees that its tokens do not show: they are unknown. So is a failed sale,
 * since the platform makes its tokens.
 */
function onCurve(about: Omit<TradeTrial, 'buy'>, bought: Purchase, sold: CallOutcome): TradeTrial {
  const sell = readSell(sold, bought.receivedRaw, bought)
  const plain = (step: TrialStep): TrialStep => ({
    ...step,
    taxPpm: undefined,
    gas: about.method === 'call' ? undefined : step.gas,
  })
  return { ...about, buy: plain(bought.step), sell: sell?.works ? plain(sell) : undefined }
}

function movedOf(balances: readonly bigint[]): Moved {
  const [heldRaw = 0n, friendBeforeRaw = 0n, leftRaw = 0n, friendAfterRaw = 0n] = balances
  return { heldRaw, friendBeforeRaw, leftRaw, friendAfterRaw }
}

type Three = readonly [CallOutcome, CallOutcome, CallOutcome]

function readAll(answer: Hex): Three {
  try {
    const [oks, answers] = decodeFunctionResult({ abi: TRADER, functionName: 'tradeAll', data: answer })
    return oks.map((ok, place) => ({ ok, data: answers[place] ?? '0x', gasUsed: 0 })) as unknown as Three
  } catch (cause) {
    throw new ChaintapeError(
      'node_answer_invalid',
      'eth_call: unexpected result of the simulation contract',
      { cause },
    )
  }
}

/** Within one call, repeated storage access is cheaper, so its gas differs from that of a transaction. */
function withoutGas(step: TrialStep): TrialStep {
  return { ...step, gas: undefined }
}

function tried({ pair }: TrialRequest, method: TrialMethod): Omit<TradeTrial, 'buy'> {
  return { pair: pair.address, method, transfer: undefined, sell: undefined }
}

function outcomeAt(blocks: readonly (readonly CallOutcome[])[], block: number, call: number): CallOutcome {
  const outcome = blocks[block]?.[call]
  if (outcome === undefined)
    throw new ChaintapeError('node_answer_invalid', 'eth_simulateV1: a call is missing')
  return outcome
}

function actorsOf({ token, block }: TrialRequest): Actors {
  const actor = (role: string): Hex => {
    const seed = encodePacked(['bytes32', 'address', 'string'], [block.hash as Hex, token as Hex, role])
    return `0x${keccak256(seed).slice(-40)}`
  }
  return {
    trader: actor('trader'),
    buyer: actor('buyer'),
    friend: actor('friend'),
    operator: actor('operator'),
  }
}

function overridesOf({ pair }: TrialRequest, actors: Actors, method: TrialMethod): StateOverrides {
  const { trader, buyer, friend, operator } = actors
  const code = { code: TRADER_CODE as Hex }
  return {
    ...(pair.quote === ZERO_ADDRESS
      ? { [trader]: { ...code, balance: FUNDS } }
      : {
          [trader]: code,
          [pair.quote]: { stateDiff: pretendedFunds(pair.kind === 'curve' ? trader : buyer) },
        }),
    ...(method === 'simulate'
      ? { [buyer]: { balance: MANY_COINS } }
      : { [buyer]: code, [friend]: code, [operator]: { balance: MANY_COINS } }),
  }
}
