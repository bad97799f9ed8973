import assert from 'node:assert/strict'
import { type Abi, decodeEventLog, type Log, type TransactionReceipt } from 'viem'
import { uniswapV2Pair } from '../../dev/market/artifacts.ts'

const TRANSFER = uniswapV2Pair.abi.filter((item) => item.type === 'event' && item.name === 'Transfer')

type Transfer = {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** Balances by the transfers that tokens log. */
export class TokenFlows {
  readonly #balances = new Map<string, bigint>()

  note(log: Log): void {
    const transfer = transferOf(log)
    if (transfer === undefined) return
    const { token, from, to, amount } = transfer
    this.#balances.set(`${from}/${token}`, this.balance(from, token) - amount)
    this.#balances.set(`${to}/${token}`, this.balance(to, token) + amount)
  }

  balance(holder: string, token: string): bigint {
    return this.#balances.get(`${holder}/${token}`) ?? 0n
  }
}

/** How much of a token a transaction moved to a holder (negative: away from it). */
export function movedTo(holder: string, token: string, { logs }: TransactionReceipt): bigint {
  const own = new TokenFlows()
  for (const log of logs) own.note(log)
  return own.balance(holder, token)
}

/** The only address that a contract sent a token to in a transaction; '' for native coins, which emit no logs. */
export function payeeOf(payer: string, token: string, { logs }: TransactionReceipt): string {
  const payees = logs.flatMap((log) => {
    const transfer = log.address.toLowerCase() === token ? transferOf(log) : undefined
    return transfer?.from === payer ? [transfer.to] : []
  })
  assert.ok(new Set(payees).size <= 1)
  return payees[0] ?? ''
}

export function decode(
  abi: Abi,
  log: Log,
): { readonly name: string; readonly args: Readonly<Record<string, unknown>> } {
  const { eventName, args } = decodeEventLog({ abi, data: log.data, topics: log.topics })
  return { name: eventName ?? '', args: args as unknown as Readonly<Record<string, unknown>> }
}

export function transferOf(log: Log): Transfer | undefined {
  // V3's positions are tokens, too: their transfers have the number indexed.
  if (log.topics.length !== 3) return undefined
  try {
    const { args } = decode(TRANSFER, log)
    const [from, to] = [String(args['from']).toLowerCase(), String(args['to']).toLowerCase()]
    return { token: log.address.toLowerCase(), from, to, amount: args['value'] as bigint }
  } catch {
    // Another event.
    return undefined
  }
}
