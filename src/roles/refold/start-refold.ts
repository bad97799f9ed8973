import { ChaintapeError } from '../../domain/errors.ts'
import { type ChainGenerations, type Generation, isFoldable, nextNumber } from '../../domain/generation.ts'
import type { SettingsAt } from '../../domain/missing-dexes.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { Generations } from '../../log/generations.ts'
import type { BlockArchive, ReadMessage } from '../../store/clickhouse/block-archive.ts'
import { decodeEnvelope, decodeEnvelopeHead } from '../../wire/envelope-codec.ts'

/**
 * Adds a generation to build to the chain's entry; returns the one that is there already if there is one. A supplement
 * that is still to be read is from now on this caller's.
 */
export async function startRefold(
  chain: string,
  generations: Generations,
  rules: Omit<Generation, 'number'>,
): Promise<Generation> {
  const { building } = await generations.change(chain, (now) => {
    if (now.building !== undefined) {
      const { supplement } = now.building
      if (supplement === undefined || isFoldable(now.building)) return undefined
      return { ...now, building: { ...now.building, supplement: { attempt: supplement.attempt + 1 } } }
    }
    if (now.retiring !== undefined) throw isRemoving(chain, now)
    const number = nextNumber(now)
    return { ...now, building: { number, ...rules }, lastNumber: number }
  })
  return building as Generation
}

/** From now on engines fold the generation. Throws if another command has taken over. */
export async function completeSupplement(
  chain: string,
  generations: Generations,
  built: Generation,
  until: number,
): Promise<Generation> {
  const { building } = await generations.change(chain, (now) => {
    mustRead(chain, now, built)
    const attempt = now.building?.supplement?.attempt ?? 1
    return { ...now, building: { ...built, supplement: { attempt, until } } }
  })
  return building as Generation
}

/** Throws unless this generation is being built, and its supplement is read by this caller. */
export function mustRead(chain: string, { building }: ChainGenerations, ours: Generation): void {
  const isOurs = building?.number === ours.number && building.supplement?.attempt === ours.supplement?.attempt
  if (isOurs) return
  throw new ChaintapeError('refold_refused', `the refold of ${chain} was canceled, or continued elsewhere`)
}

/** The generation is removed like one that was served; false if none is being built. */
export async function cancelRefold(chain: string, generations: Generations): Promise<boolean> {
  let isCanceled = false
  await generations.change(chain, ({ building, ...now }) => {
    isCanceled = building !== undefined
    return building && { ...now, retiring: { ...building, until: Math.floor(Date.now() / 1_000) } }
  })
  return isCanceled
}

/** Serves the generation that was built; the one before is kept until the end of the grace. */
export async function switchTo(
  chain: string,
  generations: Generations,
  built: Generation,
  graceSeconds: number,
): Promise<ChainGenerations> {
  const after = await generations.change(chain, ({ serving, building, ...now }) => {
    if (building?.number !== built.number) return undefined
    const until = Math.ceil(Date.now() / 1_000) + graceSeconds
    return { ...now, serving: building, retiring: { ...serving, until } }
  })
  if (after.serving.number === built.number) return after
  throw new ChaintapeError('refold_refused', `the refold of ${chain} was canceled`)
}

/** All settings of BLOCKS, in order. */
export async function loggedSettings(
  chain: string,
  blocks: Pick<ChainLog, 'epoch' | 'read' | 'lastSequence' | 'isQuarantined'>,
  archive: Pick<BlockArchive, 'end' | 'settings'>,
  signal: AbortSignal,
): Promise<SettingsAt[]> {
  const archived = await archive.end(chain, blocks.epoch)
  const found: SettingsAt[] = []
  const take = ({ body, position }: ReadMessage): void => {
    const envelope = decodeEnvelope(body)
    if (envelope.kind === 'settings') found.push({ sequence: position.sequence, settings: envelope.settings })
  }
  for (const message of archived === undefined ? [] : await archive.settings(chain, blocks.epoch)) {
    const { sequence } = message.position
    // Quarantined settings have no effect. Those beyond the commit point are read from the log.
    if (sequence <= (archived?.sequence ?? 0) && !blocks.isQuarantined(sequence)) take(message)
  }
  const until = await blocks.lastSequence()
  if (until > (archived?.sequence ?? 0)) {
    for await (const message of blocks.read({ after: archived, signal, until })) {
      if (decodeEnvelopeHead(message.body).kind === 'settings') take(message)
    }
  }
  return found
}

function isRemoving(chain: string, { retiring }: ChainGenerations): ChaintapeError {
  const until = new Date((retiring?.until ?? 0) * 1_000).toISOString()
  return new ChaintapeError(
    'refold_refused',
    `generation ${retiring?.number} of ${chain} is kept until ${until} and then removed by a writer; try again then`,
  )
}
