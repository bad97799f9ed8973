import type { Token } from '../../../src/domain/change.ts'
import { readStored } from '../../../src/store/redis/stored-value.ts'
import { readToken } from '../../../src/wire/record-codec.ts'

/**
 * Two readers of one chain publish the same facts, but not with the same blocks: older transfers are read, and contracts
 * inspected, whenever a node responds. Once all is known, the sums of transfers are the same. An inspection is as of the
 * block in which it was made, and the version of a row is that of its last change.
 */

type Row = Readonly<Record<string, unknown>>

const WITHOUT_TIMING: Readonly<Record<string, (row: Row) => Row>> = {
  tokens: withoutInspection,
  balances: withoutInspection,
  trades: withoutHoldings,
}

/** Rows by table, without fields that depend on when a node responded. */
export function sameRows(rows: Readonly<Record<string, unknown[]>>): Record<string, unknown[]> {
  return Object.fromEntries(
    Object.entries(rows).map(([table, found]) => {
      const without = WITHOUT_TIMING[table]
      return [table, without === undefined ? found : (found as Row[]).map(without)]
    }),
  )
}

/** What the wallet of an EVM trade held is known from the block on in which all holders of the token are. */
export function withoutHoldings(trade: Row): Row {
  const { sold_held_raw, sold_accounts, bought_held_raw, bought_accounts, ...rest } = trade
  const { wallet_native_raw, is_token0_sold, ...row } = rest
  return row
}

function withoutInspection({ seq, risk_score, is_honeypot, is_mintable, ...row }: Row): Row {
  return row
}

/** Documents by key, likewise. */
export function sameDocuments(documents: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(documents).flatMap(([key, value]) => {
      if (key.startsWith('contract:')) return []
      return [[key, key.startsWith('token:') ? tokenOf(value) : value]]
    }),
  )
}

function tokenOf(value: unknown): Omit<Token, 'risk'> | undefined {
  const stored = readStored(Buffer.from(String(value), 'hex'), readToken)
  if (stored === undefined) return undefined
  const { risk, ...token } = stored.record
  return token
}
