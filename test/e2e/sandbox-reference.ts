import {
  decodeEventLog,
  formatTransactionReceipt,
  type Hex,
  numberToHex,
  parseAbi,
  type TransactionReceipt,
  zeroAddress,
} from 'viem'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { dollarOf } from '../../src/sandbox/sandbox.ts'
import { wrappingOf } from './expected-holdings.ts'
import { ExpectedMarket } from './expected-market.ts'

const BATCH = 200
const LAUNCHPAD = parseAbi([
  'event TokenPurchase(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee, uint256 offers, uint256 funds)',
  'event TokenSale(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee, uint256 offers, uint256 funds)',
])

export type NodeBlock = { readonly time: number; readonly receipts: readonly TransactionReceipt[] }

/** What a sandbox's market must have come to, from the receipts of its node. */
export async function sandboxReference(
  sandbox: Pick<Sandbox, 'chain' | 'tokens'>,
): Promise<{ expected: ExpectedMarket; blocks: readonly NodeBlock[] }> {
  const { exchanges } = sandbox.chain
  const blocks = await readBlocks(sandbox)
  const [supplies, paid] = [wrappedSupplies(blocks, exchanges.weth), await nativePayments(sandbox, blocks)]
  const at = (number: number): NodeBlock => blocks[number - 1] ?? { time: 0, receipts: [] }
  const tokens = sandbox.tokens.map(({ address, name, symbol, decimals }) => ({
    address,
    name,
    symbol,
    decimals,
  }))
  const constant = new Map(sandbox.tokens.map(({ address, supplyRaw }) => [address, supplyRaw]))
  const node = {
    market: {
      weth: exchanges.weth,
      factory: exchanges.v2Factory,
      timeOf: async (number: number) => at(number).time,
      receipts: async (number: number) => [...at(number).receipts],
    },
    v3: { factory: exchanges.v3Factory },
    v4: { manager: exchanges.v4Manager },
    stable: dollarOf(sandbox).address,
    tokens: [
      ...tokens,
      { address: exchanges.weth, name: 'Wrapped Ether', symbol: 'WETH', decimals: 18 },
      { address: zeroAddress, name: 'Ether', symbol: 'ETH', decimals: 18 },
    ],
    // The node has forgotten the state of old blocks.
    supplyOf: (address: string, block: number) => constant.get(address as Hex) ?? supplies[block - 1] ?? 0n,
    nativePaidIn: ({ transactionHash }: TransactionReceipt) => paid.get(transactionHash) ?? 0n,
  }
  return { expected: await ExpectedMarket.read(node, blocks.length), blocks }
}

/** Trades on the launchpad: place, token and amounts. */
export function launchpadTrades({ chain }: Pick<Sandbox, 'chain'>, blocks: readonly NodeBlock[]) {
  return blocks.flatMap(({ receipts }) =>
    receipts.flatMap(({ logs, blockNumber }) =>
      logs.flatMap((log) => {
        if (log.address.toLowerCase() !== chain.exchanges.launchpad) return []
        try {
          const { eventName, args } = decodeEventLog({ abi: LAUNCHPAD, data: log.data, topics: log.topics })
          const [amounts, isBuy] = [[String(args.cost), String(args.amount)], eventName === 'TokenPurchase']
          const [sold, bought] = isBuy ? amounts : amounts.toReversed()
          return [{ block: String(blockNumber), log: log.logIndex, sold, bought }]
        } catch {
          // Another event of the launchpad.
          return []
        }
      }),
    ),
  )
}

async function readBlocks({ chain }: Pick<Sandbox, 'chain'>): Promise<NodeBlock[]> {
  const blocks: NodeBlock[] = []
  for (let first = 1; first <= chain.head.number; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, chain.head.number - first + 1) }, (_, at) =>
      numberToHex(first + at),
    )
    const [headers, receipts] = await Promise.all([
      chain.node.askAll(
        numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [number, false] })),
      ),
      chain.node.askAll(numbers.map((number) => ({ method: 'eth_getBlockReceipts', params: [number] }))),
    ])
    for (const [at, header] of headers.entries()) {
      const all = receipts[at] as Parameters<typeof formatTransactionReceipt>[0][]
      blocks.push({
        time: Number((header as { timestamp: Hex }).timestamp),
        receipts: all.map((receipt) => formatTransactionReceipt(receipt)),
      })
    }
  }
  return blocks
}

/** Wrapped ether after each block: it is made and unmade by its own events. */
function wrappedSupplies(blocks: readonly NodeBlock[], weth: Hex): bigint[] {
  let supply = 0n
  return blocks.map(({ receipts }) => {
    for (const log of receipts.flatMap(({ logs }) => logs)) {
      const move = wrappingOf({ weth }, log)
      if (move !== undefined) supply += move.from === zeroAddress ? move.amount : -move.amount
    }
    return supply
  })
}

/** Ether sent to the contract that provides V4's liquidity; the sandbox pays it exactly. */
async function nativePayments(
  { chain }: Pick<Sandbox, 'chain'>,
  blocks: readonly NodeBlock[],
): Promise<Map<Hex, bigint>> {
  const hashes = blocks.flatMap(({ receipts }) =>
    receipts
      .filter(({ to }) => to?.toLowerCase() === chain.exchanges.v4Provider)
      .map((one) => one.transactionHash),
  )
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] }))
  const transactions = (await chain.node.askAll(calls)) as { readonly hash: Hex; readonly value: Hex }[]
  return new Map(transactions.map(({ hash, value }) => [hash, BigInt(value)]))
}
