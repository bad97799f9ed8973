import { randomInt } from 'node:crypto'
import type { Asker } from '../../chain/facts/asker.ts'
import { uintAt } from '../../dex/evm/abi.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import { refused } from './read-balances.ts'

const TOTAL_SUPPLY = '0x18160ddd'
const BALANCE_OF = '0x70a08231'
const LARGEST = 50
const RANDOM = 150
const AT_ONCE = 50

export type Verified = {
  /** What the zero address holds: part of the supply, and in no list of holders. */
  readonly zeroRaw: bigint
  readonly samples: number
}

/**
 * Compares the largest balances, and random ones, with the token's own answers after the block, and the sum of all with
 * its total supply. Throws if anything differs.
 */
export async function verifyBalances(
  asker: Pick<Asker, 'askExactly'>,
  token: string,
  balances: ReadonlyMap<string, bigint>,
  blockHash: string,
  below: (count: number) => number = randomInt,
): Promise<Verified> {
  const ask = async (data: readonly string[]): Promise<bigint[]> => {
    const found: bigint[] = []
    for (let at = 0; at < data.length; at += AT_ONCE) {
      const calls = data.slice(at, at + AT_ONCE).map((each) => ({ to: token, data: each as `0x${string}` }))
      for (const answer of await asker.askExactly(calls, blockHash)) {
        const amountRaw = uintAt(answer, 0)
        if (amountRaw === undefined)
          throw refused('no node has the state of that block, or the token does not answer')
        found.push(amountRaw)
      }
    }
    return found
  }
  const [supplyRaw = 0n, zeroRaw = 0n] = await ask([TOTAL_SUPPLY, balanceCall(ZERO_ADDRESS)])
  const samples = sampled(balances, below)
  const answers = await ask(samples.map(balanceCall))
  for (const [index, holder] of samples.entries()) {
    const [listed, answered] = [balances.get(holder), answers[index]]
    if (listed !== answered) throw refused(`${holder} holds ${answered}, not ${listed}`)
  }
  const sum = [...balances.values()].reduce((total, amountRaw) => total + amountRaw, zeroRaw)
  if (sum !== supplyRaw)
    throw refused(
      `the balances add up to ${sum}${zeroRaw > 0n ? ` with the ${zeroRaw} of the zero address` : ''}, the total supply is ${supplyRaw}`,
    )
  return { zeroRaw, samples: samples.length }
}

function sampled(balances: ReadonlyMap<string, bigint>, below: (count: number) => number): string[] {
  const all = [...balances].sort(([, a], [, b]) => (a > b ? -1 : Number(a < b))).map(([holder]) => holder)
  const chosen = new Set(all.slice(0, LARGEST))
  const rest = all.slice(LARGEST)
  while (rest.length > 0 && chosen.size < LARGEST + RANDOM)
    for (const holder of rest.splice(below(rest.length), 1)) chosen.add(holder)
  return [...chosen]
}

function balanceCall(holder: string): string {
  return `${BALANCE_OF}${'0'.repeat(24)}${holder.slice(2)}`
}
