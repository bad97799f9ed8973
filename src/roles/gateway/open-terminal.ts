import type { Config } from '../../config/schema.ts'
import type { KeyRing } from '../../gateway/access/keys/key-ring.ts'
import { readTerminalFiles, type TerminalFiles } from '../../gateway/terminal/terminal-files.ts'

/** The web terminal, if it is configured, and what is wrong with its key. */
export function openTerminal(
  { gateway }: Config,
  check: KeyRing['check'],
): { readonly terminal: TerminalFiles | undefined; readonly details: () => string[] } {
  if (gateway.terminal === undefined) return { terminal: undefined, details: () => [] }
  const { api_key: apiKey } = gateway.terminal
  return {
    terminal: readTerminalFiles(apiKey),
    details: () =>
      typeof check(apiKey) === 'string' ? ['gateway.terminal.api_key is unknown, expired or revoked'] : [],
  }
}
