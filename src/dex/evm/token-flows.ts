import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import type { TokenMove } from './token-moves.ts'

/** What one address received and sent of a token in a transaction, without mints and burns by it. */
type Flow = {
  receivedRaw: bigint
  sentRaw: bigint
  /** Each amount that it sent. */
  readonly payments: Set<bigint>
  /** The only address that it sent to, or `SEVERAL`. */
  payee: string | undefined
}

const SEVERAL = ''

/** The transfers of one token in one transaction, summed by address, so that a swap costs no more than a look-up. */
export class TokenFlows {
  readonly #byAddress = new Map<string, Flow>()
  /** The only address that has more than before, or `SEVERAL`; unknown until it is asked for. */
  #gainer: { readonly address: string | undefined } | undefined

  add({ from, to, amount }: TokenMove): void {
    // Unwrapping a coin burns it: the burner is the last one to receive it.
    if (from === to || to === ZERO_ADDRESS || amount === 0n) return
    this.#flowOf(to).receivedRaw += amount
    if (from === ZERO_ADDRESS) return
    const flow = this.#flowOf(from)
    flow.sentRaw += amount
    flow.payments.add(amount)
    flow.payee = flow.payee === undefined || flow.payee === to ? to : SEVERAL
  }

  /**
   * The address that finally received an amount which `payer` owed for a swap. The payer must have sent exactly that
   * amount: singletons settle several swaps at once, and then no transfer belongs to one of them. It is the payee if it
   * sent nothing on, otherwise the only address that has more than before. Undefined if neither exists.
   */
  recipientOf(payer: string, amount: bigint): string | undefined {
    const paid = this.#byAddress.get(payer)
    if (paid?.payee === undefined || !paid.payments.has(amount)) return undefined
    if (this.#byAddress.get(paid.payee)?.sentRaw === 0n) return paid.payee
    this.#gainer ??= { address: this.#onlyGainer() }
    const { address } = this.#gainer
    return address === SEVERAL || address === payer ? undefined : address
  }

  #onlyGainer(): string | undefined {
    let gainer: string | undefined
    for (const [address, { receivedRaw, sentRaw }] of this.#byAddress) {
      if (receivedRaw <= sentRaw) continue
      if (gainer !== undefined) return SEVERAL
      gainer = address
    }
    return gainer
  }

  #flowOf(address: string): Flow {
    let flow = this.#byAddress.get(address)
    if (flow === undefined) {
      flow = { receivedRaw: 0n, sentRaw: 0n, payments: new Set(), payee: undefined }
      this.#byAddress.set(address, flow)
    }
    return flow
  }
}

/** By token. */
export function flowsOf(moves: readonly TokenMove[]): Map<string, TokenFlows> {
  const flows = new Map<string, TokenFlows>()
  for (const move of moves) {
    let own = flows.get(move.token)
    if (own === undefined) {
      own = new TokenFlows()
      flows.set(move.token, own)
    }
    own.add(move)
  }
  return flows
}
