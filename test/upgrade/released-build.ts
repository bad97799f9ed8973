import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { MAIN_ARGS } from '../../dev/main-args.ts'

const REPO = resolve(import.meta.dirname, '../..')

/** The source of a release, taken from git, with the libraries of this tree. */
export type ReleasedBuild = { readonly mainArgs: readonly string[]; remove(): void }

/** Undefined if this clone does not have the commit: a shallow one, or a tree without git. */
export function releasedBuild(version: string): ReleasedBuild | undefined {
  const commit = recordingCommit(version)
  if (commit === undefined) return undefined
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-release-'))
  const source = execFileSync('git', ['archive', commit, 'src', 'config', 'package.json'], {
    cwd: REPO,
    maxBuffer: 256 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', dir], { input: source })
  symlinkSync(realpathSync(join(REPO, 'node_modules')), join(dir, 'node_modules'))
  const main = MAIN_ARGS.at(-1) as string
  return {
    mainArgs: [...MAIN_ARGS.slice(0, -1), join(dir, main.slice(REPO.length + 1))],
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** The commit that recorded the bytes of a release. */
function recordingCommit(version: string): string | undefined {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: REPO, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    // In a shallow clone the oldest commit seems to add every file.
    if (git('rev-parse', '--is-shallow-repository') === 'true') return undefined
    const file = `test/bytes/releases/${version}/release.json`
    return git('log', '-1', '--no-renames', '--diff-filter=A', '--format=%H', '--', file) || undefined
  } catch {
    return undefined
  }
}
