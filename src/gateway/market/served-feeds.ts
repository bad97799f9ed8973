import { ChaintapeError } from '../../domain/errors.ts'
import { FIRST_GENERATIONS, type Generation } from '../../domain/generation.ts'
import {
  ChangeFeedFollower,
  type FollowHooks,
  type FollowOptions,
  type GenerationFeed,
} from './change-feed-follower.ts'
import type { FollowedLog } from './feed-start.ts'
import { GenerationSwitch, type SwitchOptions } from './generation-switch.ts'

export type ServedFeedsOptions = FollowOptions & {
  readonly logs: ReadonlyMap<string, FollowedLog>
  /** The generation that each of these logs is of. */
  readonly generationOf?: (chain: string) => Generation
  /** Called in the step in which reads go over to another generation. */
  readonly onSwitch?: (chain: string, generation: Generation) => void
  /** Called before the first change set of that generation; the set waits for it. */
  readonly onSwitched?: (chain: string) => Promise<void>
}

type ServedFeed = {
  readonly follower: ChangeFeedFollower
  /** Aborted when another generation is served. */
  readonly left: AbortController
  /** Resolves once its change sets may be taken. */
  readonly entered: Promise<void>
}

/** The generation that each chain is served from. */
export class ServedFeeds {
  readonly #options: ServedFeedsOptions
  readonly #served = new Map<string, ServedFeed>()
  readonly #switches = new Map<string, GenerationSwitch>()
  #revision = 0
  #switchCount = 0

  constructor(options: ServedFeedsOptions) {
    this.#options = options
    const { generationOf = () => FIRST_GENERATIONS.serving } = options
    for (const [name, log] of options.logs)
      this.#serve(name, this.#open(name, { generation: generationOf(name), log }), Promise.resolve())
  }

  get names(): Iterable<string> {
    return this.#served.keys()
  }

  /** Counts the times that anything left an overlay, reads went on to a commit point, or a chain switched. */
  get revision(): number {
    return this.#revision
  }

  /** Counts the times that another generation of a chain was served. */
  get switches(): number {
    return this.#switchCount
  }

  find(name: string): ChangeFeedFollower | undefined {
    return this.#served.get(name)?.follower
  }

  of(name: string): ChangeFeedFollower {
    return this.#of(name).follower
  }

  /** Follows one chain until the signal aborts; rejects when it cannot be followed any further. Called again, it goes on. */
  async follow(name: string, hooks: Omit<FollowHooks, 'onDropped'>): Promise<void> {
    for (;;) {
      const feed = this.#of(name)
      await this.#follow(feed, hooks)
      if (hooks.signal.aborted || this.#of(name) === feed) return
    }
  }

  /** Serves another generation as soon as it can take the place of the served one. Rejects if it cannot be followed. */
  async switchTo(name: string, feed: GenerationFeed, options: SwitchOptions): Promise<void> {
    const next = this.#open(name, feed)
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
    const handover = new GenerationSwitch({
      ...options,
      next,
      served: () => this.of(name),
      onReady: (hasGap) => {
        this.#serve(name, next, entered)
        this.#revision++
        this.#switchCount++
        this.#options.onSwitch?.(name, feed.generation)
        if (hasGap) this.#options.onGap?.(name)
      },
    })
    this.#switches.set(name, handover)
    try {
      await handover.run()
    } catch (error) {
      if (this.of(name) !== next) throw error
    } finally {
      if (this.of(name) === next) await this.#options.onSwitched?.(name)
      this.#switches.delete(name)
      enter()
    }
  }

  async #follow(
    { follower, left, entered }: ServedFeed,
    hooks: Omit<FollowHooks, 'onDropped'>,
  ): Promise<void> {
    await entered
    const ended = new AbortController()
    const signal = AbortSignal.any([hooks.signal, left.signal, ended.signal])
    const onDropped = (): void => {
      this.#revision++
    }
    const pruning = follower.prune(signal, onDropped)
    try {
      await follower.follow({ ...hooks, signal, onDropped })
    } catch (error) {
      if (!left.signal.aborted) throw error
    } finally {
      ended.abort()
      // A store that hangs must not delay the next generation.
      if (!left.signal.aborted) await pruning
    }
  }

  #open(name: string, feed: GenerationFeed): ChangeFeedFollower {
    const { onChangeSet, onGap, onAdopted } = this.#options
    const isServed = (): boolean => this.find(name) === follower
    const follower = new ChangeFeedFollower(name, feed, {
      ...this.#options,
      onChangeSet: (received) => {
        if (isServed()) onChangeSet(received)
        this.#switches.get(name)?.check()
      },
      onGap: () => {
        if (isServed()) onGap?.(name)
      },
      onAdopted: () => {
        this.#revision++
        if (isServed()) onAdopted?.(name)
      },
    })
    return follower
  }

  #serve(name: string, follower: ChangeFeedFollower, entered: Promise<void>): void {
    const before = this.#served.get(name)
    this.#served.set(name, { follower, left: new AbortController(), entered })
    before?.left.abort()
  }

  #of(name: string): ServedFeed {
    const feed = this.#served.get(name)
    if (feed === undefined) throw new ChaintapeError('internal', `chain ${name} is not followed`)
    return feed
  }
}
