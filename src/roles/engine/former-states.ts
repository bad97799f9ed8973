import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { chainOfStored, type FoldedChain, nextNumber, numberOfStored } from '../../domain/generation.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Generations } from '../../log/generations.ts'
import { LiveGenerations } from '../live-generations.ts'
import { stateFolder } from '../state-snapshots.ts'

/**
 * Deletes the states and snapshots of generations that a chain no longer has. One whose number the entry does not know
 * stays: then the entry is lost.
 */
export function removeFormerStates(
  config: Pick<Config, 'data_dir' | 'snapshots' | 'chains'>,
  generations: Pick<Generations, 'of'>,
  logger: Logger,
): void {
  const live = new LiveGenerations(generations)
  const isFormer = (stored: string): boolean => {
    const chain = chainOfStored(stored)
    const present = Object.hasOwn(config.chains, chain) ? live.namesOf(chain) : undefined
    if (present === undefined || present.includes(stored)) return false
    return numberOfStored(stored) < nextNumber(generations.of(chain))
  }
  const { dir, snapshots } = stateFolder(config, 'engine', '', '')
  for (const parent of [dir, snapshots]) {
    for (const stored of namesIn(parent)) {
      try {
        if (!isFormer(stored)) continue
        rmSync(join(parent, stored), { recursive: true, force: true })
        logger.info({ folder: join(parent, stored) }, 'State of a former generation deleted')
      } catch (error) {
        logger.error({ err: error, folder: join(parent, stored) }, 'State of a former generation remains')
      }
    }
  }
}

/** A state above the known numbers means that NATS has lost the entry, which a writer restores from ClickHouse. */
export function mustKnowStates(
  config: Pick<Config, 'data_dir' | 'snapshots'>,
  { chain }: Pick<FoldedChain, 'chain'>,
  generations: Pick<Generations, 'of'>,
): void {
  const known = nextNumber(generations.of(chain))
  const unknown = namesIn(stateFolder(config, 'engine', '', '').dir).find(
    (stored) => chainOfStored(stored) === chain && numberOfStored(stored) >= known,
  )
  if (unknown === undefined) return
  throw new ChaintapeError(
    'diverged',
    `this engine has a state of ${unknown}, which GENERATIONS in NATS does not know; waiting for a writer to restore it from ClickHouse`,
  )
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
