import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { ProcessPlan } from './process.ts'

export function planAnvil(dataDir: string, port: number, extraArgs: readonly string[]): ProcessPlan {
  return {
    name: 'anvil',
    command: anvilProgram(),
    args: ['--silent', '--host', '127.0.0.1', '--port', `${port}`, ...withDefaultChainId(extraArgs)],
    logFile: join(dataDir, 'anvil.log'),
    ports: [port],
    isReady: async () => {
      const response = await fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      })
      return typeof ((await response.json()) as { result?: unknown }).result === 'string'
    },
  }
}

function withDefaultChainId(args: readonly string[]): readonly string[] {
  return args.some((arg) => arg.startsWith('--chain-id')) ? args : ['--chain-id', '31337', ...args]
}

// The package's own launcher is a script around this program: a signal would end the script, not the node.
function anvilProgram(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const require = createRequire(import.meta.url)
  try {
    const manifest = require.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`)
    const program = join(dirname(manifest), 'bin', 'anvil')
    if (existsSync(program)) return program
  } catch {
    // Not packaged for this platform.
  }
  return 'anvil'
}
