import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GATEWAY_FLAGS } from '../src/lib/launch-flags.ts'

const root = new URL('../', import.meta.url)
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  readonly scripts: { readonly start: string }
}

/** What node is given to start the program, before its own arguments: the same as by `npm start`. */
export const MAIN_ARGS: readonly string[] = scripts.start
  .split(' ')
  .slice(1)
  .map((arg) => (arg.endsWith('.ts') ? fileURLToPath(new URL(arg, root)) : arg))

/** Starts a role at once with all its flags: a program that relaunches itself would lose its IPC channel. */
export function roleArgs(role: string): readonly string[] {
  return role === 'gateway' ? [...GATEWAY_FLAGS, ...MAIN_ARGS, role] : [...MAIN_ARGS, role]
}
