/**
 * node test/run.ts <suite>[+<suite>...] [words...]: runs a suite, or the files of several as those of one; a word keeps the
 * files whose path contains it.
 */
import { appendFileSync, globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'

type Suite = {
  readonly patterns: readonly string[]
  readonly concurrency: number
  readonly testTimeoutMs: number
  /** Parts of the paths of files that take long, the longest first: begun last, they would keep one core busy. */
  readonly long?: readonly string[]
  /** The same for files that compare times: few others run beside them. */
  readonly timed?: readonly string[]
}
type Failure = { readonly file: string; readonly text: string }
type Tally = {
  passed: number
  failed: number
  skipped: number
  failures: Failure[]
  /** What failed once, and passed when its file was run again by itself. */
  unstable: Failure[]
  readonly files: { readonly file: string; readonly seconds: number }[]
}

const cores = availableParallelism()
/** Tests with a stack of their own: their waits have limits, so there is no more than one per core, and at least two. */
const stacks = Math.max(2, cores)
const TIMED_CONCURRENCY = 2
const suites: Readonly<Record<string, Suite>> = {
  unit: {
    patterns: [
      'src/**/*.test.ts',
      'dev/**/*.test.ts',
      'bench/**/*.test.ts',
      'web/src/**/*.test.ts',
      'test/bytes/*.test.ts',
      'test/chaos/*.test.ts',
    ],
    concurrency: cores,
    testTimeoutMs: 120_000,
  },
  golden: { patterns: ['test/golden/**/*.test.ts'], concurrency: cores, testTimeoutMs: 300_000 },
  integration: {
    patterns: ['test/integration/**/*.test.ts'],
    concurrency: stacks,
    testTimeoutMs: 600_000,
    long: ['hostile-tokens', 'integration/writer', 'integration/log-trouble'],
    timed: [
      ...['accounts', 'endpoint-pool', 'gateway-sockets', 'hung-clickhouse', 'integration/hot-store.test'],
      ...['integration/keys', 'latest-values', 'quota-store'],
    ],
  },
  faults: { patterns: ['test/faults/**/*.test.ts'], concurrency: 2, testTimeoutMs: 120_000 },
  e2e: {
    patterns: ['test/e2e/**/*.test.ts'],
    concurrency: stacks,
    testTimeoutMs: 600_000,
    long: ['e2e/rest', 'e2e/refold', 'e2e/reorg', 'e2e/solana', 'e2e/lifetime', 'e2e/processes'],
    timed: ['coverage', 'holders-order'],
  },
  contract: { patterns: ['test/contract/**/*.test.ts'], concurrency: 2, testTimeoutMs: 300_000 },
  // Backup and restore, lost servers, full disks: each file has servers of its own.
  drills: {
    patterns: ['test/drills/**/*.test.ts'],
    concurrency: 2,
    testTimeoutMs: 300_000,
    long: ['drills/'],
  },
  // What follows measures, or loads the machine by itself: one at a time.
  quota: { patterns: ['test/quota/**/*.test.ts'], concurrency: 1, testTimeoutMs: 120_000 },
  takeover: { patterns: ['test/takeover/**/*.test.ts'], concurrency: 1, testTimeoutMs: 600_000 },
  // Nine outages of a minute, and the time to catch up.
  outage: {
    patterns: ['test/outage/**/*.test.ts'],
    concurrency: 1,
    testTimeoutMs: 600_000,
  },
  // The rolling restart loads the machine by itself.
  upgrade: {
    patterns: ['test/upgrade/**/*.test.ts'],
    concurrency: 2,
    testTimeoutMs: 300_000,
    timed: ['rolling'],
  },
  // Packs and installs, which loads the machine by itself.
  package: { patterns: ['test/package/**/*.test.ts'], concurrency: 1, testTimeoutMs: 300_000 },
  alerts: { patterns: ['test/alerts/**/*.test.ts'], concurrency: 1, testTimeoutMs: 300_000 },
  dashboards: { patterns: ['test/dashboards/**/*.test.ts'], concurrency: 1, testTimeoutMs: 300_000 },
  // Builds the site, and runs what the pages show.
  docs: { patterns: ['test/docs/**/*.test.ts'], concurrency: 2, testTimeoutMs: 300_000, long: ['docs/docs'] },
  // A real browser, which measures.
  web: {
    patterns: ['test/web/**/*.test.ts'],
    concurrency: 1,
    testTimeoutMs: 300_000,
  },
  // The client: its units, then against a real gateway.
  client: {
    patterns: ['clients/typescript/**/*.test.ts', 'test/client/**/*.test.ts'],
    concurrency: 2,
    // The storm in its full size.
    testTimeoutMs: 1_200_000,
    timed: ['client/storm'],
  },
  // Programs that users copy, against one sandbox.
  examples: {
    patterns: ['test/examples/**/*.test.ts'],
    concurrency: 1,
    testTimeoutMs: 600_000,
  },
  // Builds an image, and runs every service of compose.yaml; needs dev/setup --image.
  image: {
    patterns: ['test/image/**/*.test.ts'],
    concurrency: 1,
    testTimeoutMs: 600_000,
  },
  attack: {
    patterns: ['test/attack/**/*.test.ts'],
    concurrency: 1,
    testTimeoutMs: 300_000,
  },
}
const SLOWEST_SHOWN = 10
/** More failures than this are no accident. */
const REPEATED_AT_MOST = 3
/** Characters, in one line. */
const REASON_SHOWN = 600

const repo = resolve(fileURLToPath(new URL('..', import.meta.url)))
/** Not `--test-force-exit`, which may end a process before it has reported all of its tests. */
const END_PROCESS = new URL('./end-process.ts', import.meta.url).href
// Sources are stripped of their types and compiled once, not by each of a thousand processes.
process.env['NODE_COMPILE_CACHE'] ??= join(repo, 'node_modules/.cache/compiled')
process.env['CHAINTAPE_FIXTURES'] ??= resolve(repo, '../shared/fixtures')

const [suiteName = '', ...words] = process.argv.slice(2)
const isAll = suiteName === 'all'
const chosen = isAll ? Object.entries(suites) : [[suiteName, suiteOf(suiteName.split('+'))] as const]

const plan = chosen.map(([name, suite]) => ({ name, suite, files: filesOf(suite) }))
const allFiles = plan.flatMap(({ files }) => files)
for (const word of words) {
  if (!allFiles.some((file) => file.includes(word)))
    fail(`no test file of '${suiteName}' has '${word}' in its path`)
}

const total = { passed: 0, failed: 0, skipped: 0 }
for (const { name, suite, files } of plan) {
  const selected =
    words.length === 0 ? files : files.filter((file) => words.some((word) => file.includes(word)))
  if (selected.length === 0 && isAll) continue
  const tally = await runSuite(suite, selected)
  total.passed += tally.passed
  total.failed += tally.failed
  total.skipped += tally.skipped
  const tallyFile = process.env['CHAINTAPE_TEST_TALLY']
  if (tallyFile) {
    const { failures, unstable, files: _, ...counts } = tally
    const lines = [
      ...failures.map(({ text }) => `FAILED ${text}`),
      ...unstable.map(({ text }) => `UNSTABLE ${text}`),
      JSON.stringify({ suite: name, ...counts }),
    ]
    appendFileSync(tallyFile, `${lines.join('\n')}\n`)
  }
}

if (total.passed + total.failed + total.skipped === 0) console.error(`no test of '${suiteName}' was executed`)
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`)
process.exitCode = total.failed > 0 || total.passed + total.skipped === 0 ? 1 : 0

/** The suite of this name, or several as one. */
function suiteOf(names: readonly string[]): Suite {
  const parts = names.map((name) => {
    const suite = suites[name]
    if (suite === undefined)
      fail(`usage: node test/run.ts ${Object.keys(suites).join('|')}|all [words of a path...]`)
    return suite
  })
  return {
    patterns: parts.flatMap(({ patterns }) => patterns),
    concurrency: Math.max(...parts.map(({ concurrency }) => concurrency)),
    testTimeoutMs: Math.max(...parts.map(({ testTimeoutMs }) => testTimeoutMs)),
    long: parts.flatMap(({ long = [] }) => long),
    timed: parts.flatMap(({ timed = [] }) => timed),
  }
}

function filesOf({ patterns, long = [] }: Suite): string[] {
  const rankOf = (file: string): number => {
    const rank = long.findIndex((part) => file.includes(part))
    return rank === -1 ? long.length : rank
  }
  return globSync([...patterns], { cwd: repo })
    .filter((file) => !/(^|\/)(\.|node_modules\/)/.test(file))
    .sort()
    .sort((one, other) => rankOf(one) - rankOf(other))
}

async function runSuite(suite: Suite, files: readonly string[]): Promise<Tally> {
  const tally = newTally()
  const isTimed = (file: string): boolean => (suite.timed ?? []).some((part) => file.includes(part))
  await runFiles(
    suite,
    files.filter((file) => !isTimed(file)),
    suite.concurrency,
    tally,
  )
  await runFiles(suite, files.filter(isTimed), TIMED_CONCURRENCY, tally)
  if (process.env['TEST_REPEAT_FAILED'] === '1') await repeatFailed(suite, tally)
  const slowest = tally.files.sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST_SHOWN)
  if (slowest.length > 1)
    console.log(
      ['slowest files:', ...slowest.map(({ file, seconds }) => `${seconds} s ${file}`)].join('\n  '),
    )
  return tally
}

function newTally(): Tally {
  return { passed: 0, failed: 0, skipped: 0, failures: [], unstable: [], files: [] }
}

/** Runs each file that failed once more, alone: docs/decisions/0111-a-failed-file-is-run-again.md. */
async function repeatFailed(suite: Suite, tally: Tally): Promise<void> {
  const files = new Set(tally.failures.map(({ file }) => file))
  if (files.size > REPEATED_AT_MOST) return
  for (const file of files) {
    console.log(`\n${file} failed; once more, alone`)
    const again = newTally()
    await runFiles(suite, [file], 1, again)
    if (again.failed > 0 || again.passed === 0) continue
    const passed = tally.failures.filter((failure) => failure.file === file)
    tally.failures = tally.failures.filter((failure) => failure.file !== file)
    tally.unstable.push(...passed)
    tally.failed -= passed.length
    tally.passed += passed.length
  }
}

async function runFiles(
  suite: Suite,
  files: readonly string[],
  concurrency: number,
  tally: Tally,
): Promise<void> {
  if (files.length === 0) return
  const events = run({
    files: files.map((file) => join(repo, file)),
    cwd: repo,
    concurrency,
    timeout: suite.testTimeoutMs,
    execArgv: ['--import', END_PROCESS],
  })
  // Children are reported right before what contains them.
  let previousNesting = 0
  const isContainer = (data: { nesting: number; details: { type?: string } }): boolean => {
    const hasChildren = previousNesting > data.nesting
    previousNesting = data.nesting
    return hasChildren || data.details.type === 'suite'
  }
  events.on('test:pass', (data) => {
    const isFileWithoutTest = data.nesting === 0 && resolve(repo, data.name) === data.file
    // What is in a skipped container is not reported.
    if (isContainer(data) && data.skip === undefined) return
    if (data.skip !== undefined || data.todo !== undefined) tally.skipped += 1
    else if (!isFileWithoutTest) tally.passed += 1
    else {
      tally.failed += 1
      console.error(`${relative(repo, resolve(repo, data.name))} holds no test`)
    }
  })
  events.on('test:fail', (data) => {
    // What contains a failed test fails too; counted is what failed by itself.
    const isEcho = failureType(data.details.error) === 'subtestsFailed'
    if (isContainer(data) && isEcho) return
    if (data.todo !== undefined) tally.skipped += 1
    else {
      tally.failed += 1
      const reason = String(data.details.error.cause ?? data.details.error).replaceAll(/\s+/g, ' ')
      const shown = reason.slice(0, REASON_SHOWN)
      const file = relative(repo, data.file ?? '')
      tally.failures.push({ file, text: `${file}: ${data.name}: ${shown}` })
    }
  })
  events.on('test:summary', ({ file, duration_ms }) => {
    if (file !== undefined)
      tally.files.push({ file: relative(repo, file), seconds: Math.round(duration_ms / 1_000) })
  })
  const report = events.compose(spec)
  report.pipe(process.stdout, { end: false })
  await finished(report)
}

function failureType(error: unknown): unknown {
  return error instanceof Error && 'failureType' in error ? error.failureType : undefined
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
