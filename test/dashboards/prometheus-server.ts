import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import {
  freePorts,
  type ProcessPlan,
  signalProcess,
  startProcess,
  waitUntilReady,
} from '../../src/sandbox/servers/process.ts'

const CONFIG_FILE = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yaml', import.meta.url))

type Settings = {
  readonly global: object
  readonly rule_files: readonly string[]
  readonly scrape_configs: readonly {
    readonly job_name: string
    readonly static_configs: readonly {
      readonly targets: readonly string[]
      readonly labels: { readonly role: string }
    }[]
  }[]
}

export type PrometheusServer = {
  /** The `data` of a response of its API. */
  get<Data>(path: string, parameters?: Readonly<Record<string, string>>): Promise<Data>
  stop(): Promise<void>
}

/** Prometheus with deploy/prometheus, except for the ports of the roles and shorter intervals. */
export async function startPrometheus(
  folder: string,
  adminPorts: Readonly<Record<string, number>>,
): Promise<PrometheusServer> {
  const settings = parse(readFileSync(CONFIG_FILE, 'utf8')) as Settings
  const configFile = join(folder, 'prometheus.yaml')
  const scrape_configs = settings.scrape_configs.map((job) => ({
    ...job,
    static_configs: job.static_configs.map(({ labels }) => ({
      labels,
      targets: [`127.0.0.1:${adminPorts[labels.role]}`],
    })),
  }))
  const rule_files = settings.rule_files.map((file) => join(dirname(CONFIG_FILE), file))
  const global = { ...settings.global, scrape_interval: '1s', evaluation_interval: '1s' }
  writeFileSync(configFile, stringify({ ...settings, global, rule_files, scrape_configs }))

  const [port = 0] = await freePorts(1)
  const running = startProcess(planPrometheus(folder, port, configFile))
  await waitUntilReady(running)
  return {
    async get<Data>(path: string, parameters: Readonly<Record<string, string>> = {}) {
      const response = await fetch(
        `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters)}`,
      )
      const answer = (await response.json()) as { status: string; error?: string; data: Data }
      if (answer.status !== 'success')
        throw new Error(`${answer.error}: ${path} ${JSON.stringify(parameters)}`)
      return answer.data
    },
    stop: () => signalProcess(running, 'SIGKILL'),
  }
}

function planPrometheus(dataDir: string, port: number, configFile: string): ProcessPlan {
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
