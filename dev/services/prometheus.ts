import { join } from 'node:path'
import type { ProcessPlan } from './process.ts'

export function planPrometheus(dataDir: string, port: number, configFile: string): ProcessPlan {
  return {
    name: 'prometheus',
    command: 'prometheus',
    args: [
      ...[`--config.file=${configFile}`, `--storage.tsdb.path=${join(dataDir, 'prometheus')}`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
    ],
    logFile: join(dataDir, 'prometheus.log'),
    ports: [port],
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok,
  }
}
