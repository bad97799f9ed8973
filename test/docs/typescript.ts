import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { removeAtExit } from '../../src/sandbox/servers/process.ts'
import { environmentWithoutSettings } from '../support/rigs/pipeline.ts'
import { type Block, repo } from './blocks.ts'
import type { Outcome } from './shell.ts'

/** A block of TypeScript, as a file in a folder of its own. */
export type Program = {
  readonly block: Block
  readonly dir: string
  readonly file: string
  /** Runs until it is stopped. */
  readonly isLive: boolean
}

const PROGRAM_MS = 60_000

export function writePrograms(blocks: readonly Block[]): Program[] {
  const root = mkdtempSync(join(tmpdir(), 'chaintape-programs-'))
  removeAtExit(root)
  return blocks.map((block, index) => {
    const dir = join(root, String(index))
    mkdirSync(dir)
    writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
    const file = join(dir, 'program.ts')
    writeFileSync(file, block.text)
    return { block, dir, file, isLive: block.text.includes('new WebSocket(') }
  })
}

/** What tsc says of all programs; empty if nothing. */
export async function typeFaults(programs: readonly Program[]): Promise<string> {
  const [first] = programs
  if (first === undefined) return ''
  const config = {
    extends: join(repo, 'tsconfig.json'),
    compilerOptions: {
      // A client's own project need not be as strict as ours.
      noPropertyAccessFromIndexSignature: false,
      typeRoots: [join(repo, 'node_modules/@types')],
    },
    files: programs.map(({ file }) => file),
    include: [],
  }
  const project = join(first.dir, '../tsconfig.json')
  writeFileSync(project, JSON.stringify(config))
  const { code, stdout } = await execute(join(repo, 'node_modules/.bin/tsc'), ['--project', project])
  return code === 0 ? '' : stdout
}

export function runProgram(
  { dir, file }: Program,
  variables: Readonly<Record<string, string>>,
): Promise<Outcome> {
  return execute(process.execPath, [file], dir, variables)
}

function execute(command: string, args: readonly string[], cwd = repo, variables = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = { ...environmentWithoutSettings(), ...variables }
    execFile(command, args, { cwd, env, timeout: PROGRAM_MS }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, stdout, stderr })
    })
  })
}

/** A program that runs until it is stopped, and the lines that it has printed so far. */
export function startProgram(
  { dir, file }: Program,
  variables: Readonly<Record<string, string>>,
  lines: string[],
): { kill(): Promise<void> } {
  const child = spawn(process.execPath, [file], {
    cwd: dir,
    env: { ...environmentWithoutSettings(), ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  return {
    kill: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}
