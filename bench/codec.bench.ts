import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Candle, ChangeSet, EventSide, Trade } from '../src/domain/change.ts'
import type { BlockEnvelope, RawLog, RawTransaction } from '../src/domain/envelope.ts'
import { candleStart, INTERVALS } from '../src/domain/interval.ts'
import { priceOf, valueOfAmount } from '../src/domain/money.ts'
import { decodeChangeSet, encodeChangeSet } from '../src/wire/change-codec.ts'
import { decodeEnvelope, encodeEnvelope } from '../src/wire/envelope-codec.ts'
import { FIRST_LINK, frameChecksum, MessageAssembler, splitMessage } from '../src/wire/frame.ts'
import { type Bench, repeat, type Sides } from './measure.ts'

/**
 * What our wire format costs against JSON, the format nobody has to justify.
 *
 * Both sides get the best case of JSON: text that is already a string to parse, and records whose bigints
 * are already strings to write. Named keys, as an API would have them; bytes as hex.
 */
export const bench: Bench = {
  figures: [
    {
      name: 'BLOCKS: frames to Envelope / JSON.parse',
      bar: 1,
      goal: 4,
      direction: 'at least',
      per: 'cpu second',
      open: openDecode,
    },
    {
      name: 'CHANGES: ChangeSet to frames / JSON.stringify',
      bar: 0.5,
      goal: 1.5,
      direction: 'at least',
      per: 'cpu second',
      open: openEncode,
    },
  ],
}

const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const MAX_FRAME_BYTES = 900_000
const TRADES = 50
/** The blocks are repeated with other pools and wallets, so that nothing is recognised only because they come round again. */
const VARIANTS = 16

function openDecode(): Sides {
  const real = readBlocks()
  const swaps = swapCount(real)
  const rounds = Array.from({ length: VARIANTS }, (_, variant) => {
    const blocks = real.map((block) => varied(block, variant))
    const jsons = blocks.map((block) => JSON.stringify(block, asJson))
    return {
      blocks,
      frames: frameAll(blocks.map(encodeEnvelope)),
      jsons,
      parsed: jsons.map((json) => JSON.parse(json)),
    }
  })
  const nextRound = () => {
    const round = rounds.shift()
    assert.ok(round !== undefined)
    rounds.push(round)
    return round
  }

  let decoded: unknown[] = []
  let parsed: unknown[] = []
  return {
    subject: repeat(
      () => {
        decoded = []
        const assembler = new MessageAssembler(FIRST_LINK)
        for (const frame of nextRound().frames) {
          const message = assembler.push(frame)
          if (message !== undefined) decoded.push(decodeEnvelope(message))
        }
        return swaps
      },
      () => difference(decoded, rounds.at(-1)?.blocks),
    ),
    baseline: repeat(
      () => {
        parsed = []
        for (const json of nextRound().jsons) parsed.push(JSON.parse(json))
        return swaps
      },
      () => difference(parsed, rounds.at(-1)?.parsed),
    ),
  }
}

function openEncode(): Sides {
  const set = changeSetOf(readBlocks())
  const stringified = JSON.parse(JSON.stringify(set, asJson)) as ChangeSet
  let frames: Uint8Array[] = []
  let json = ''
  return {
    subject: repeat(
      () => {
        frames = splitMessage(encodeChangeSet(set), FIRST_LINK, MAX_FRAME_BYTES)
        return TRADES
      },
      () => difference(decodeChangeSet(assembled(frames)), set),
    ),
    baseline: repeat(
      () => {
        json = JSON.stringify(stringified)
        return TRADES
      },
      () => difference(JSON.parse(json), stringified),
    ),
  }
}

function difference(actual: unknown, expected: unknown): string | undefined {
  try {
    assert.deepEqual(actual, expected)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function frameAll(messages: readonly Uint8Array[]): Uint8Array[] {
  const frames: Uint8Array[] = []
  for (const message of messages) {
    const last = frames.at(-1)
    frames.push(
      ...splitMessage(message, last === undefined ? FIRST_LINK : frameChecksum(last), MAX_FRAME_BYTES),
    )
  }
  return frames
}

function assembled(frames: readonly Uint8Array[]): Uint8Array {
  const assembler = new MessageAssembler(FIRST_LINK)
  const whole = frames.map((frame) => assembler.push(frame)).at(-1)
  assert.ok(whole !== undefined)
  return whole
}

function asJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  return value
}

function swapCount(blocks: readonly BlockEnvelope[]): number {
  return blocks
    .flatMap(({ transactions }) => transactions.flatMap(({ logs }) => logs))
    .filter(({ topics }) => topics[0] === SWAP).length
}

function varied(block: BlockEnvelope, variant: number): BlockEnvelope {
  const other = (id: string) => inventHex(`${id} ${variant}`, (id.length - 2) / 2)
  const transactions = block.transactions.map(({ index, hash, from, logs }) => ({
    index,
    hash: other(hash),
    from: other(from),
    logs: logs.map(({ index, address, topics: [event = '', ...rest], data }) => {
      const wallets = rest.map((topic) => `0x${'00'.repeat(12)}${other(topic).slice(26)}`)
      return { index, address: other(address), topics: [event, ...wallets], data }
    }),
  }))
  return { ...block, hash: other(block.hash), parentHash: other(block.parentHash), transactions }
}

type RpcLog = { logIndex: string; address: string; topics: string[]; data: string }
type RpcReceipt = { transactionIndex: string; transactionHash: string; from: string; logs: RpcLog[] }
type RpcBlock = { number: string; hash: string; parentHash: string }

/** The Uniswap V2 logs of real blocks, as the reader would append them. */
function readBlocks(): BlockEnvelope[] {
  const fixtures =
    process.env['CHAINTAPE_FIXTURES'] ?? path.join(import.meta.dirname, '../../shared/fixtures')
  const folder = path.join(fixtures, 'evm/blocks')
  const ending = '.receipts.json'
  let names: string[]
  try {
    names = readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .sort()
  } catch {
    console.log(`no fixtures in ${folder}: measuring made-up logs of the same shape`)
    return inventBlocks()
  }
  const read = (name: string) => JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
  const blocks = names.map((name): BlockEnvelope => {
    const block: RpcBlock = read(name.replace(ending, '.block.json'))
    const receipts: RpcReceipt[] = read(name)
    const transactions = receipts.map(rawTransaction).filter(({ logs }) => logs.length > 0)
    return blockOf(Number(block.number), block.hash, block.parentHash, transactions)
  })
  return blocks.filter((block) => swapCount([block]) > 0)
}

function rawTransaction(receipt: RpcReceipt): RawTransaction {
  const logs = receipt.logs
    .filter(({ topics }) => topics[0] === SWAP || topics[0] === SYNC)
    .map(({ logIndex, address, topics, data }): RawLog => {
      const bytes = Uint8Array.from(Buffer.from(data.slice(2), 'hex'))
      return { index: Number(logIndex), address: address.toLowerCase(), topics, data: bytes }
    })
  const { transactionIndex, transactionHash, from } = receipt
  return { index: Number(transactionIndex), hash: transactionHash, from: from.toLowerCase(), logs }
}

function blockOf(
  number: number,
  hash: string,
  parentHash: string,
  transactions: RawTransaction[],
): BlockEnvelope {
  return {
    kind: 'block',
    chain: 'eth',
    number,
    hash,
    parentHash,
    time: 1_700_000_000,
    transactions,
    facts: [],
  }
}

function inventBlocks(): BlockEnvelope[] {
  return Array.from({ length: 28 }, (_, number) => {
    const transactions = Array.from({ length: 16 }, (_, index): RawTransaction => {
      const seed = `${number}/${index}`
      const address = inventHex(`pair ${seed}`, 20)
      const router = `0x${'00'.repeat(12)}${inventHex('router', 20).slice(2)}`
      const swap = [inventAmount(`in ${seed}`), 0n, 0n, inventAmount(`out ${seed}`)]
      const sync = [inventAmount(`r0 ${seed}`) * 1_000n, inventAmount(`r1 ${seed}`) * 1_000n]
      return {
        index,
        hash: inventHex(`tx ${seed}`, 32),
        from: inventHex(`from ${seed}`, 20),
        logs: [
          { index: index * 4, address, topics: [SYNC], data: words(sync) },
          { index: index * 4 + 1, address, topics: [SWAP, router, router], data: words(swap) },
        ],
      }
    })
    return blockOf(
      number,
      inventHex(`block ${number}`, 32),
      inventHex(`block ${number - 1}`, 32),
      transactions,
    )
  })
}

function inventHex(seed: string, size: number): string {
  return `0x${createHash('sha256')
    .update(seed)
    .digest('hex')
    .slice(0, size * 2)}`
}

function inventAmount(seed: string): bigint {
  return BigInt(inventHex(seed, 9)) + 1n
}

function words(values: readonly bigint[]): Uint8Array {
  const hex = values.map((value) => value.toString(16).padStart(64, '0')).join('')
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

/** What an engine could publish for the first swaps of the blocks: each trade, and its pair's candles. */
function changeSetOf(blocks: readonly BlockEnvelope[]): ChangeSet {
  const trades = blocks.flatMap(tradesOf).slice(0, TRADES)
  assert.equal(trades.length, TRADES)
  const lastOfPair = new Map(trades.map((trade) => [trade.pair, trade]))
  const candles = [...lastOfPair.values()].flatMap(candlesOf)
  const head = { number: 17_000_000, hash: inventHex('head', 32), time: 1_700_000_000 }
  return {
    chain: 'eth',
    seq: 1_000_000,
    cause: 'block',
    head,
    finalNumber: head.number - 64,
    changes: [
      ...trades.map((trade) => ({ type: 'trade' as const, trade })),
      ...candles.map((candle) => ({ type: 'candle' as const, candle })),
    ],
  }
}

function tradesOf(block: BlockEnvelope): Trade[] {
  return block.transactions.flatMap((transaction) => {
    const swaps = transaction.logs.filter(({ topics }) => topics[0] === SWAP)
    return swaps.map((log) => tradeOf(block, transaction, log))
  })
}

function tradeOf(block: BlockEnvelope, transaction: RawTransaction, log: RawLog): Trade {
  const [in0 = 0n, in1 = 0n, out0 = 0n, out1 = 0n] = readWords(log.data)
  const sync = transaction.logs.find(({ topics, address }) => topics[0] === SYNC && address === log.address)
  const [reserve0 = 0n, reserve1 = 0n] = readWords(sync?.data ?? new Uint8Array())
  const isFirstSold = in0 > 0n
  const [amountSold, amountBought] = isFirstSold ? [in0, out1] : [in1, out0]
  const native = priceOf(amountBought, 18, amountSold, 18)
  const usd = priceOf(amountBought, 18, amountSold * 2_000n, 18)
  const side = (name: string, amountRaw: bigint, reserveRaw: bigint): EventSide => ({
    token: inventHex(name + log.address, 20),
    symbol: name,
    decimals: 18,
    amountRaw,
    reserveRaw,
    priceUsd: usd,
    priceNative: native,
  })
  const sold = side('WETH', amountSold, isFirstSold ? reserve0 : reserve1)
  const bought = side('TOKEN', amountBought, isFirstSold ? reserve1 : reserve0)
  return {
    key: { block: block.number, tx: transaction.index, log: log.index },
    time: block.time,
    pair: log.address,
    amm: 'uniswap',
    transaction: transaction.hash,
    sender: `0x${log.topics[1]?.slice(26)}`,
    recipient: `0x${log.topics[2]?.slice(26)}`,
    wallet: transaction.from,
    targetToken: bought.token,
    side: 'buy',
    sold,
    bought,
    valueUsd: valueOfAmount(amountBought, 18, usd),
    valueNative: valueOfAmount(amountBought, 18, native),
    liquidityUsd: valueOfAmount(bought.reserveRaw ?? 0n, 18, usd),
    liquidityNative: valueOfAmount(bought.reserveRaw ?? 0n, 18, native),
  }
}

function candlesOf(trade: Trade): Candle[] {
  const valuesOf = (price: bigint | undefined, volume: bigint | undefined) =>
    price === undefined || volume === undefined
      ? undefined
      : { open: price, high: price, low: price, close: price, volume }
  return INTERVALS.map((interval) => ({
    pair: trade.pair,
    interval,
    start: candleStart(interval, trade.time),
    usd: valuesOf(trade.bought.priceUsd, trade.valueUsd),
    native: valuesOf(trade.bought.priceNative, trade.valueNative),
    quote: valuesOf(trade.bought.priceNative, trade.valueNative),
    tradeCount: 1,
    firstTrade: trade.key,
    lastTrade: trade.key,
  }))
}

function readWords(data: Uint8Array): bigint[] {
  const hex = Buffer.from(data).toString('hex')
  return (hex.match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`))
}
