import { mkdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProcessPlan } from './process.ts'

const serverFile = fileURLToPath(new URL(`clickhouse-server${extname(import.meta.url)}`, import.meta.url))
const settings = fileURLToPath(new URL('clickhouse-settings.xml', import.meta.url))

/** `config`: settings of the server, as in its `config.d`. */
export function planClickhouse(dataDir: string, port: number, config = settings): ProcessPlan {
  const folder = join(dataDir, 'clickhouse')
  mkdirSync(folder, { recursive: true })
  return {
    name: 'clickhouse',
    command: process.execPath,
    args: [serverFile, '--port', `${port}`, '--data', folder, '--config', config],
    // Each running query holds a thread of this pool; Node's four would make the fifth reader wait.
    env: { UV_THREADPOOL_SIZE: '16', TZ: 'UTC', NODE_OPTIONS: '' },
    logFile: join(dataDir, 'clickhouse.log'),
    ports: [port],
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/ping`)).ok,
  }
}
