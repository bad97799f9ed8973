import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenHistories } from '../../chain/open-histories.ts'
import type { Logger } from '../../lib/logger.ts'
import { MAX_LIQUIDITY_ADDRESSES } from '../../wire/liquidity-question.ts'

export type RankHistoriesParts = {
  readonly histories: OpenHistories
  /** Liquidity in whole dollars, in the same order; undefined if unknown. */
  readonly ask: (addresses: readonly string[]) => Promise<readonly (bigint | undefined)[]>
  /** Receives the addresses with liquidity, most first. */
  readonly rank: (addresses: readonly string[]) => void
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly everyMs?: number
}

const EVERY_MS = 30_000
/** Between two requests, so that an engine is not kept from folding. */
const PAUSE_MS = 50

/** Ranks open histories by liquidity, again and again, until the signal aborts. Without an engine the last ranking stays. */
export async function rankHistories(parts: RankHistoriesParts): Promise<void> {
  const { histories, rank, logger, signal, everyMs = EVERY_MS } = parts
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)
  let isAnswered = true
  while (!signal.aborted) {
    try {
      if (histories.length > 0) rank(await ranking(parts, () => pause(PAUSE_MS)))
      isAnswered = true
    } catch (error) {
      if (isAnswered && !signal.aborted)
        logger.warn({ err: error }, 'No engine reports liquidity; histories are read without it')
      isAnswered = false
    }
    await pause(everyMs)
  }
}

async function ranking(
  { histories, ask, signal }: RankHistoriesParts,
  pause: () => Promise<void>,
): Promise<string[]> {
  const found: (readonly [address: string, dollars: bigint])[] = []
  for (let place = histories.places.first; place < histories.places.next && !signal.aborted; ) {
    const addresses: string[] = []
    for (; addresses.length < MAX_LIQUIDITY_ADDRESSES && place < histories.places.next; place++) {
      const open = histories.at(place)
      if (open !== undefined) addresses.push(open.address)
    }
    const dollars = await ask(addresses)
    for (const [index, address] of addresses.entries()) {
      const known = dollars[index] ?? 0n
      if (known > 0n) found.push([address, known])
    }
    await pause()
  }
  return found.sort(([, a], [, b]) => (a > b ? -1 : Number(a < b))).map(([address]) => address)
}
