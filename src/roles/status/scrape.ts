import type { RoleName } from '../role.ts'

/** One line of Prometheus text. */
export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export type Scrape = {
  readonly role: RoleName
  /** `ready`, the reason why it is not, or that it does not answer. */
  readonly state: string
  readonly samples: readonly Sample[]
}

const TIMEOUT_MS = 2_000
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Reads `/readyz` and `/metrics` of a role. Never rejects. */
export async function scrape(role: RoleName, host: string, port: number): Promise<Scrape> {
  try {
    const ask = (path: string): Promise<Response> =>
      fetch(`http://${host}:${port}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const [ready, metrics] = await Promise.all([ask('/readyz'), ask('/metrics')])
    const [state = ''] = (await ready.text()).split('\n')
    return { role, state, samples: parseSamples(await metrics.text()) }
  } catch {
    return { role, state: `does not answer at ${host}:${port}`, samples: [] }
  }
}

export function parseSamples(text: string): Sample[] {
  return text.split('\n').flatMap((line): Sample[] => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
    if (name === undefined) return []
    const pairs = Array.from(labels.matchAll(LABEL), ([, key = '', text = '']) => [
      key,
      text.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter)),
    ])
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }]
  })
}

/** The sum of the samples that have all these labels; undefined if there is none. */
export function sumOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}
