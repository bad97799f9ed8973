import { join } from 'node:path'
import type { ProcessPlan } from './process.ts'
import { anvilProgram } from './programs.ts'

export function planAnvil(dataDir: string, port: number, extraArgs: readonly string[]): ProcessPlan {
  return {
    name: 'anvil',
    command: anvilProgram() ?? 'anvil',
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
