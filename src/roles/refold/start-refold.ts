import { ChaintapeError } from '../../domain/errors.ts'
import { type ChainGenerations, type Generation, nextNumber } from '../../domain/generation.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { Generations } from '../../log/generations.ts'
import type { BlockArchive } from '../../store/clickhouse/block-archive.ts'
import { decodeEnvelopeHead } from '../../wire/envelope-codec.ts'

/** Adds a generation to build to the chain's entry; returns the one that is there already if there is one. */
export async function startRefold(
  chain: string,
  generations: Generations,
  rules: Pick<Generation, 'settingsAt' | 'from'>,
): Promise<Generation> {
  const { building } = await generations.change(chain, (now) => {
    if (now.building !== undefined) return undefined
    if (now.retiring !== undefined) throw isRemoving(chain, now)
    const number = nextNumber(now)
    return { ...now, building: { number, ...rules }, lastNumber: number }
  })
  return building as Generation
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

/** The sequence of the last settings in BLOCKS; undefined if it has none. */
export async function lastSettings(
  chain: string,
  blocks: Pick<ChainLog, 'epoch' | 'read' | 'lastSequence'>,
  archive: Pick<BlockArchive, 'end' | 'lastSettings'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const archived = await archive.end(chain, blocks.epoch)
  let found = archived === undefined ? 0 : await archive.lastSettings(chain, blocks.epoch)
  const until = await blocks.lastSequence()
  if (until > (archived?.sequence ?? 0)) {
    for await (const { body, position } of blocks.read({ after: archived, signal, until })) {
      if (decodeEnvelopeHead(body).kind === 'settings') found = position.sequence
    }
  }
  return found === 0 ? undefined : found
}

function isRemoving(chain: string, { retiring }: ChainGenerations): ChaintapeError {
  const until = new Date((retiring?.until ?? 0) * 1_000).toISOString()
  return new ChaintapeError(
    'refold_refused',
    `generation ${retiring?.number} of ${chain} is kept until ${until} and then removed by a writer; try again then`,
  )
}
