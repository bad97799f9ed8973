import { setTimeout as sleep } from 'node:timers/promises'
import { PastTransfers } from '../../chain/evm/facts/past-transfers.ts'
import type { EvmNodes } from '../../chain/evm/rpc/rpc.ts'
import type { Asker } from '../../chain/facts/asker.ts'
import { FIRST_BLOCK } from '../../chain/open-histories.ts'
import type { TransfersFact } from '../../domain/envelope.ts'
import { IMPORTED_FIRST, MAX_IMPORTED_HOLDERS } from '../../domain/imported-balances.ts'
import type { ImportAnswer, ImportQuestion, ImportState } from '../../wire/import-question.ts'
import { refused } from './read-balances.ts'
import { verifyBalances } from './verify-balances.ts'

export type ImportParts = {
  readonly nodes: EvmNodes
  readonly asker: Asker
  readonly wrappedNative: ReadonlySet<string>
  /** Asks the leading reader. */
  readonly ask: (question: ImportQuestion) => Promise<ImportAnswer>
  readonly note: (line: string) => void
  readonly signal: AbortSignal
  readonly waitMs?: number
}

const WAIT_MS = 300_000
const POLL_MS = 500

/**
 * Verifies balances after a block and publishes them as the older transfers of a token. Older and later transfers that the
 * log has, or will have, are subtracted, so that nothing counts twice.
 */
export async function importBalances(
  parts: ImportParts,
  address: string,
  block: number,
  balances: ReadonlyMap<string, bigint>,
): Promise<void> {
  const { nodes, asker, ask, note } = parts
  const open = await stateOf(parts, address)
  if (block < open.from)
    throw refused(
      `blocks up to ${open.from - 1} are already read; the balances must be those of a later block`,
    )
  if (block > open.final)
    throw refused(`block ${block} is not final yet; the latest final one is ${open.final}`)
  const header = await nodes.blockByNumber(block)
  if (header === null || header.hash === null) throw refused(`no node has block ${block}`)
  const { zeroRaw, samples } = await verifyBalances(asker, address, balances, header.hash)
  note(`${samples} of ${balances.size} balances, and their sum, agree with the token at block ${block}`)

  const gains = new Map(balances)
  let mintedToZeroRaw = zeroRaw
  const subtract = async (from: number, upTo: number): Promise<void> => {
    const sums = await transfersIn(parts, address, from, upTo)
    for (const [holder, gain] of sums.gains) gains.set(holder, (gains.get(holder) ?? 0n) - gain)
    mintedToZeroRaw -= sums.mintedToZeroRaw
  }
  await subtract(FIRST_BLOCK, open.from - 1)
  await subtract(open.upTo + 1, block)
  if (mintedToZeroRaw < 0n) mintedToZeroRaw = 0n

  const changed = [...gains].filter(([, amountRaw]) => amountRaw !== 0n)
  if (changed.length > MAX_IMPORTED_HOLDERS)
    throw refused(`with later transfers, more than ${MAX_IMPORTED_HOLDERS} balances would change`)
  const upTo = Math.min(block, open.upTo)
  const fact: TransfersFact = {
    ...{ type: 'transfers', address, upTo, isLast: upTo === open.upTo, first: IMPORTED_FIRST },
    gains: changed.map(([holder, amountRaw]) => ({ holder, amountRaw })),
    issuedRaw: changed.reduce((sum, [, amountRaw]) => sum + amountRaw, mintedToZeroRaw),
    burnedRaw: 0n,
    mintedToZeroRaw,
  }
  const answer = await ask({ kind: 'import', from: open.from, fact })
  if (answer !== 'taken') throw refused(refusalOf(answer))
  await published(parts, address, upTo)
}

async function stateOf({ ask }: ImportParts, address: string): Promise<ImportState> {
  const state = await ask({ kind: 'state', address })
  if (state === 'read')
    throw refused('the token is unknown, or all of its transfers are read; there is nothing to import')
  if (typeof state !== 'object' || 'refused' in state) throw refused(refusalOf(state))
  return state
}

function refusalOf(answer: ImportAnswer): string {
  return typeof answer === 'object' && 'refused' in answer
    ? `${answer.refused}; run the command again`
    : 'the reader gave an unexpected answer; run the command again'
}

/** The net transfers in a range of blocks; the reader holds the history while they are read. */
async function transfersIn(
  { nodes, wrappedNative, ask, signal }: ImportParts,
  address: string,
  from: number,
  upTo: number,
) {
  const gains = new Map<string, bigint>()
  let mintedToZeroRaw = 0n
  const past = new PastTransfers(wrappedNative)
  for (let next = from; next <= upTo; ) {
    signal.throwIfAborted()
    const { to, sums } = await nodes.verified((node) => past.read(node, { address, from: next, upTo }))
    for (const [holder, gain] of sums.gains) gains.set(holder, (gains.get(holder) ?? 0n) + gain)
    mintedToZeroRaw += sums.mintedToZeroRaw
    next = to + 1
    await ask({ kind: 'state', address })
  }
  return { gains, mintedToZeroRaw }
}

async function published(
  { ask, signal, note, waitMs = WAIT_MS }: ImportParts,
  address: string,
  upTo: number,
) {
  const until = performance.now() + waitMs
  while (performance.now() < until) {
    await sleep(POLL_MS, undefined, { signal })
    const state = await ask({ kind: 'state', address })
    if (state === 'read' || (typeof state === 'object' && 'from' in state && state.from > upTo)) {
      note(`the balances are in the log${state === 'read' ? '' : '; the reader reads the blocks after them'}`)
      return
    }
  }
  throw refused('the balances did not enter a block in time; run the command again')
}
