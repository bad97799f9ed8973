/**
 * A paper trader that survives restarts: it buys a dip below the average of the last trades, and sells the rise above it.
 *
 * What it knows and the cursor that it was learned at are one file, replaced in one step. After a crash it continues with
 * the trade after the last one it has counted: none is missing, none counts twice, and what a reorg removed is taken back.
 *
 *     URL=http://127.0.0.1:8080 KEY=ctk_… PAIR=0x…-base node price-bot.ts
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createClient, isRetraction, type Trade } from '@chaintape/client'

const { URL: url = 'http://127.0.0.1:8080', KEY: key = '', PAIR: pair = '' } = process.env
const { STATE: file = 'price-bot.json' } = process.env
const TRADES = 20
const DIP = 0.02
const ORDER_USD = 100
/** After an outage, old trades count for the average, but nobody can trade at their prices any more. */
const FRESH_SECONDS = 60
const HISTORY_SECONDS = 6 * 3_600

type Tick = { readonly id: string; readonly price: number }
type State = { cursor?: string; tape: Tick[]; usd: number; tokens: number }

const state = read()
const client = createClient({ url, key })
const trades = client.trades(pair, {
  resumeFrom: state.cursor,
  from: Math.floor(Date.now() / 1_000) - HISTORY_SECONDS,
  retractions: true,
  onGap: ({ lostAfter }) => {
    console.log(`lost all trades after ${lostAfter}: the average begins again`)
    state.tape = []
  },
})
for await (const item of trades) {
  if (isRetraction(item)) state.tape = state.tape.filter(({ id }) => !item.retracted.includes(id))
  else count(item)
  // History has one cursor, after its last trade.
  if (trades.cursor !== undefined) write({ ...state, cursor: trades.cursor })
}

function count(trade: Trade): void {
  const price = Number(trade.target_token === trade.from_address ? trade.from_price_usd : trade.to_price_usd)
  // Empty: the price is unknown.
  if (!(price > 0)) return
  if (state.tape.length === TRADES && Date.now() / 1_000 - trade.time < FRESH_SECONDS) order(price)
  state.tape = [...state.tape, { id: trade.id, price }].slice(-TRADES)
}

function order(price: number): void {
  const average = state.tape.reduce((sum, tick) => sum + tick.price, 0) / state.tape.length
  if (state.tokens === 0 && price < average * (1 - DIP)) {
    state.tokens = ORDER_USD / price
    state.usd -= ORDER_USD
    console.log(`buy ${state.tokens} at ${price}`)
  } else if (state.tokens > 0 && price > average * (1 + DIP)) {
    console.log(`sell ${state.tokens} at ${price}`)
    state.usd += state.tokens * price
    state.tokens = 0
  }
}

function read(): State {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return { tape: [], usd: 0, tokens: 0 }
  }
}

function write(next: State): void {
  state.cursor = next.cursor as string
  writeFileSync(`${file}.new`, JSON.stringify(next), { flush: true })
  renameSync(`${file}.new`, file)
}
