import type { Balance, Change, ChangeSet, Token, WindowsRef } from '../../domain/change.ts'
import { never } from '../../domain/ids.ts'
import { magnitudeOf } from '../../domain/magnitude.ts'
import { searchTermsOf } from '../../domain/search-text.ts'
import { NULL } from './cells.ts'
import {
  type BalanceRow,
  balancesTable,
  candlesTable,
  contractsTable,
  liquidityTable,
  pairsTable,
  switchesTable,
  type Table,
  type TableName,
  tokenSearchTable,
  tokensTable,
  tradesTable,
  type WindowsKey,
  windowsTable,
} from './tables.ts'

export type TableRows = {
  readonly table: TableName
  readonly columns: readonly string[]
  readonly count: number
  /** Tab-separated text: what the server reads quickest, after formats that are slow to make here. */
  readonly chunks: readonly Buffer[]
}

const CHUNK_BYTES = 256 * 1_024

/**
 * What a run of change sets leaves behind, as rows: for each natural key only its newest version, a removal
 * being a row that says so. The sets are those of one log, in its order.
 */
export function rowsOf(sets: readonly ChangeSet[]): TableRows[] {
  const trades = new RowsOfTable(tradesTable)
  const liquidity = new RowsOfTable(liquidityTable)
  const candles = new RowsOfTable(candlesTable)
  const pairs = new RowsOfTable(pairsTable)
  const tokens = new RowsOfTable(tokensTable)
  const windows = new RowsOfTable(windowsTable)
  const switches = new RowsOfTable(switchesTable)
  const balances = new RowsOfTable(balancesTable)
  const contracts = new RowsOfTable(contractsTable)
  const search = new RowsOfTable(tokenSearchTable)
  const newestTokens = new Map<string, { readonly set: ChangeSet; readonly token: Token }>()
  const add = (set: ChangeSet, change: Change): void => {
    switch (change.type) {
      case 'trade':
        trades.put(set, change.trade)
        break
      case 'liquidity':
        liquidity.put(set, change.liquidity)
        break
      case 'candle':
        candles.put(set, change.candle)
        break
      case 'pair':
        pairs.put(set, change.pair)
        break
      case 'token':
        tokens.put(set, change.token)
        newestTokens.set(change.token.address, { set, token: change.token })
        break
      case 'windows':
        for (const key of ownersOf(change.windows)) windows.put(set, { ...key, windows: change.windows })
        break
      case 'switch':
        switches.put(set, change.switch)
        break
      case 'balance':
        putBalance(balances, set, change.balance)
        break
      case 'contract':
        contracts.put(set, change.contract)
        break
      case 'contractRemoved':
        contracts.remove(set, { token: change.token })
        break
      case 'tradeRemoved':
        trades.remove(set, change.trade)
        break
      case 'liquidityRemoved':
        liquidity.remove(set, change.liquidity)
        break
      case 'candleRemoved':
        candles.remove(set, change.candle)
        break
      case 'pairRemoved':
        pairs.remove(set, { address: change.pair })
        break
      case 'tokenRemoved':
        tokens.remove(set, { address: change.token })
        newestTokens.delete(change.token)
        break
      case 'windowsRemoved':
        for (const key of ownersOf(change.windows)) windows.remove(set, key)
        break
      case 'switchRemoved':
        switches.remove(set, change.switch)
        break
      default:
        never(change)
    }
  }
  for (const set of sets) {
    for (const change of set.changes) add(set, change)
  }
  for (const { set, token } of newestTokens.values()) {
    for (const term of searchTermsOf(token)) search.put(set, { ...term, token })
  }
  return [trades, liquidity, candles, pairs, tokens, windows, switches, balances, contracts, search]
    .map((table) => table.finish())
    .filter(({ count }) => count > 0)
}

/** Of a new order of magnitude, it stands elsewhere than before. */
function putBalance(
  rows: RowsOfTable<BalanceRow, BalanceRow & Balance>,
  set: ChangeSet,
  balance: Balance,
): void {
  const { token, holder, amountRaw, beforeRaw } = balance
  const [magnitude, before] = [magnitudeOf(amountRaw), magnitudeOf(beforeRaw)]
  if (beforeRaw !== 0n && (amountRaw === 0n || before !== magnitude))
    rows.remove(set, { token, holder, magnitude: before })
  if (amountRaw !== 0n) rows.put(set, { ...balance, magnitude })
}

function ownersOf({ pair, token }: WindowsRef): WindowsKey[] {
  return [
    ...(pair === undefined ? [] : [{ kind: 'pair' as const, id: pair }]),
    ...(token === undefined ? [] : [{ kind: 'token' as const, id: token }]),
  ]
}

class RowsOfTable<Key, Full extends Key> {
  readonly #table: Table<Key, Full>
  /** By natural key; the cells beyond it are made at the end, as most versions are replaced before that. */
  readonly #newest = new Map<string, { readonly set: ChangeSet; readonly record: Full | undefined }>()

  constructor(table: Table<Key, Full>) {
    this.#table = table
  }

  put(set: ChangeSet, record: Full): void {
    this.#newest.set(this.#keyOf(set, record), { set, record })
  }

  remove(set: ChangeSet, ref: Key): void {
    this.#newest.set(this.#keyOf(set, ref), { set, record: undefined })
  }

  /** The columns beyond the key of a removal are NULL, which the server turns into their defaults. */
  finish(): TableRows {
    const { name, key, rest } = this.#table
    const columns = ['chain', ...[...key, ...rest].map(([column]) => column), 'seq', 'is_deleted']
    const nothing = rest.map(() => `${NULL}\t`).join('')
    const text = new TextChunks()
    for (const [start, { set, record }] of this.#newest) {
      let row = start
      if (record === undefined) row += nothing
      else for (const [, cell] of rest) row += `${cell(record)}\t`
      text.append(`${row}${set.seq}\t${record === undefined ? '1' : '0'}\n`)
    }
    return { table: name, columns, count: this.#newest.size, chunks: text.finish() }
  }

  /** The row's first cells. */
  #keyOf({ chain }: ChangeSet, ref: Key): string {
    let start = `${chain}\t`
    for (const [, cell] of this.#table.key) start += `${cell(ref)}\t`
    return start
  }
}

/** Row by row into bytes: as one long string all its cells would have to stay, and to be collected, together. */
class TextChunks {
  readonly #full: Buffer[] = []
  // Most tables have no rows in a small batch.
  #chunk: Buffer = Buffer.alloc(0)
  #length = 0

  append(row: string): void {
    // No character takes more than three bytes for each of its code units.
    const room = row.length * 3
    if (this.#length + room > this.#chunk.length) {
      if (this.#length > 0) this.#full.push(this.#chunk.subarray(0, this.#length))
      this.#chunk = Buffer.allocUnsafe(Math.max(room, CHUNK_BYTES))
      this.#length = 0
    }
    this.#length += this.#chunk.write(row, this.#length, 'utf8')
  }

  finish(): Buffer[] {
    return [...this.#full, this.#chunk.subarray(0, this.#length)]
  }
}
