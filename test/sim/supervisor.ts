import type { BlockRef } from '../../src/domain/envelope.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { SimDisk, SimReader, type SimReaderParts } from './sim-reader.ts'

type Shared = Omit<SimReaderParts, 'id' | 'disk' | 'note' | 'onWrite' | 'onProgress' | 'onEnd'>

/** Starts a reader again whenever it ended, and ends it in all the ways there are. */
export class Supervisor {
  readonly #parts: Shared
  readonly #note: (what: string) => void
  #disk: SimDisk
  #reader: SimReader | undefined
  /** A reader on another machine, with a disk of its own. */
  #other: SimReader | undefined
  #started = 0
  #writesUntilKill: number | undefined
  #killWhen: 'before' | 'after' = 'before'
  #isCalm = false
  /** The last report of the running reader, and how often it was repeated. */
  lastTip: { tip: BlockRef | undefined; times: number } = { tip: undefined, times: 0 }
  failure: unknown
  /** All that was ever written came from one disk, which was never lost. */
  hasOneMemory = true

  constructor(parts: Shared, note: (what: string) => void) {
    this.#parts = parts
    this.#note = note
    this.#disk = this.#newDisk()
  }

  get disk(): SimDisk {
    return this.#disk
  }

  start(): void {
    if (this.#reader?.isAlive) return
    const { random } = this.#parts
    // A disk may be lost: the log is all that is needed.
    if (!this.#isCalm && random.chance(0.1)) {
      this.#disk = this.#newDisk()
      this.hasOneMemory = false
    }
    this.#reader = this.#startOn(this.#disk)
    this.lastTip = { tip: undefined, times: 0 }
    this.#note(
      `reader ${this.#reader.id} starts; its index is at ${this.#disk.position?.sequence ?? 'nothing'}`,
    )
  }

  startAnother(): string {
    if (this.#other?.isAlive) {
      this.#other.kill()
      return `reader ${this.#other.id} is killed on the other machine`
    }
    this.#other = this.#startOn(this.#newDisk())
    this.hasOneMemory = false
    return `reader ${this.#other.id} starts on another machine`
  }

  killNow(): string {
    if (!this.#reader?.isAlive) return 'nothing'
    this.#killed(this.#reader)
    return `reader ${this.#reader.id} is killed`
  }

  killAtWrite(writes: number): string {
    const when = this.#parts.random.pick(['before', 'after'] as const)
    this.#writesUntilKill = writes
    this.#killWhen = when
    return `the reader will be killed ${when} its write ${writes} from now`
  }

  stop(): string {
    if (!this.#reader?.isAlive) return 'nothing'
    this.#reader.stop()
    return `reader ${this.#reader.id} is asked to stop`
  }

  /** Says that there may be something new; true or not, it must do no harm. */
  ring(): void {
    this.#reader?.ring()
  }

  breakLine(ms: number): string {
    this.#reader?.connection.breakFor(ms)
    return `the line to the log is broken for ${ms} ms`
  }

  calmDown(): void {
    this.#isCalm = true
    this.#writesUntilKill = undefined
    if (this.#parts.random.chance(0.5)) this.#other?.kill()
    this.#reader?.connection.breakFor(0)
    this.lastTip = { tip: undefined, times: 0 }
  }

  #newDisk(): SimDisk {
    return new SimDisk(this.#parts.settings.outboxFrames)
  }

  #startOn(disk: SimDisk): SimReader {
    return new SimReader({
      ...this.#parts,
      id: this.#started++,
      disk,
      note: this.#note,
      onWrite: (reader, when) => this.#onWrite(reader, when),
      onProgress: (reader, tip) => {
        if (reader !== this.#reader) return
        const isSame = this.lastTip.tip?.hash === tip?.hash
        this.lastTip = { tip, times: isSame ? this.lastTip.times + 1 : 1 }
      },
      onEnd: (reader, error) => this.#onEnd(reader, error),
    })
  }

  #onWrite(reader: SimReader, when: 'before' | 'after'): void {
    if (this.#writesUntilKill === undefined || reader !== this.#reader || when !== this.#killWhen) return
    if (this.#writesUntilKill-- > 0) return
    this.#writesUntilKill = undefined
    this.#note(
      `reader ${reader.id} is killed ${when} a write; the log holds ${this.#parts.stream.frames.length}`,
    )
    this.#killed(reader)
  }

  #killed(reader: SimReader): void {
    reader.kill()
    this.#startAgain()
  }

  #onEnd(reader: SimReader, error: unknown): void {
    this.#note(`reader ${reader.id} ends: ${error instanceof Error ? error.message : 'as requested'}`)
    if (!this.#mayEndWith(error)) this.failure ??= error
    if (reader === this.#reader) this.#startAgain()
  }

  #startAgain(): void {
    const { clock, random } = this.#parts
    const most = random.pick([0, 100, 5_000])
    clock.after(random.below(most + 1), () => this.start())
  }

  #mayEndWith(error: unknown): boolean {
    if (error === undefined) return true
    if (error instanceof Error && error.name === 'AbortError') return true
    // A frame that no disk retained was replaced: the reader starts again, and rebuilds its index.
    return error instanceof ChaintapeError && error.code === 'log_damaged' && this.#parts.stream.rewrites > 0
  }
}
