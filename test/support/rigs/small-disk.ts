import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, renameSync, rmdirSync, statfsSync } from 'node:fs'

const FILL_ATTEMPTS = 20

/** A file system in memory, of a limited size: it can be full, and have room again. */
export class SmallDisk {
  readonly folder: string
  readonly #megabytes: number
  #isMounted = true

  private constructor(folder: string, megabytes: number) {
    this.folder = folder
    this.#megabytes = megabytes
    process.once('exit', () => this.unmount())
  }

  /** Undefined if this machine does not permit it. */
  static mount(folder: string, megabytes: number): SmallDisk | undefined {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
    mkdirSync(folder, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', folder], { stdio: 'ignore' })
      return new SmallDisk(folder, megabytes)
    } catch {
      return undefined
    }
  }

  /** Shrinks the file system to what is in it. */
  fill(): void {
    for (let attempt = 1; ; attempt++) {
      const { bsize, blocks, bfree } = statfsSync(this.folder)
      try {
        this.#resize(`${Math.max(1, blocks - bfree) * bsize}`)
        return
      } catch (error) {
        // Something was written in between.
        if (attempt === FILL_ATTEMPTS) throw error
      }
    }
  }

  empty(): void {
    this.#resize(`${this.#megabytes}m`)
  }

  /** Lazily: a process that is being ended may still have a file open. At the latest, this process does it at its end. */
  unmount(): void {
    if (!this.#isMounted) return
    this.#isMounted = false
    execFileSync('umount', ['--lazy', this.folder])
  }

  /** Unmounts it, and leaves what was in it in its place, on the machine's own disk. */
  keep(): void {
    const copy = `${this.folder}.kept`
    cpSync(this.folder, copy, { recursive: true })
    this.unmount()
    rmdirSync(this.folder)
    renameSync(copy, this.folder)
  }

  #resize(size: string): void {
    execFileSync('mount', ['-o', `remount,size=${size}`, this.folder], { stdio: 'ignore' })
  }
}
