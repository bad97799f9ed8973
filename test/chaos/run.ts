import { parseArgs } from 'node:util'
import { seeded, whole } from '../../src/sandbox/market/random.ts'
import { compareWithFold } from './compare-fold.ts'
import { compareWithReference, NOT_COMPARED } from './compare-reference.ts'
import { recoveryTable } from './recovery-table.ts'
import { ResumingClients } from './resuming-clients.ts'
import { drawRounds } from './rounds.ts'
import { namesOf, Storm } from './storm.ts'
import { notAmong } from './strikes.ts'
import { ChaosWorld } from './world.ts'

/**
 * The sandbox's market while roles and servers are killed, stopped and cut off, disks are full, clocks jump and the chain
 * forks. In the end everything equals a fresh fold of BLOCKS and the reference model of the chain.
 *
 *   npm run chaos -- --kills 1000 --seed 1
 */

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    /** Blocks of history, one a minute, and milliseconds from block to block after it: the load. */
    history: { type: 'string', default: '200' },
    'block-ms': { type: 'string', default: '250' },
    /** Keeps logs and state, to be looked at. */
    keep: { type: 'boolean', default: false },
  },
})
const [kills, seed] = [Number(values.kills), Number(values.seed)]
const startedMs = performance.now()
const elapsed = (): string => `${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s`
const say = (text: string): void => console.log(`${elapsed()}  ${text}`)

process.once('SIGTERM', () => process.exit(1))
/** Ctrl-C ends the storm after the fault at hand, and what happened until then is compared; the second one ends the run. */
const enough = new AbortController()
process.once('SIGINT', () => {
  enough.abort()
  process.once('SIGINT', () => process.exit(1))
})
const world = await ChaosWorld.start({
  ...{ seed, history: Number(values.history), blockMs: Number(values['block-ms']) },
})
const storm = new Storm(world)
const cuts = seeded(seed + 1)
let clients: ResumingClients | undefined
let phase = 'in the storm'
try {
  say(`${world.chain.head.number} blocks of history are served; ${kills} kills, seed ${seed}`)
  if (world.disks.size === 0) say('disks do not fill: this machine does not permit to mount a file system')
  clients = await ResumingClients.subscribe(world)
  world.load.start()
  const storming = clients
  await storm.run(drawRounds(kills, seed), enough.signal, ({ strikes, servedMs, bothMs, storedMs }) => {
    const recovery = `served after ${servedMs} ms, by both ${bothMs}, stored ${storedMs}`
    say(`${namesOf(strikes).padEnd(70)} ${recovery}`)
    expectNoExit()
    storming.cut(whole(cuts, 0, 3))
  })
  if (enough.signal.aborted) say(`ended after ${storm.kills} of ${kills} kills`)
  phase = 'at the end'
  await settle()
  const { forks } = world.load
  say(
    `${world.chain.head.number} blocks, ${forks.count} forks of up to ${forks.deepest}, ${forks.orphaned} orphaned`,
  )
  await expectEqual(async () => {
    const { sets, rows, documents } = await compareWithFold(world)
    return `${sets} change sets, ${rows} rows, ${documents} documents equal a fresh fold`
  })
  await expectEqual(async () => {
    const { rows, pushes } = await compareWithReference(world, storming)
    return `${rows} rows and answers, ${pushes} pushes (${storming.resumed} resumes) equal the reference`
  })
  console.log('not compared:')
  for (const what of NOT_COMPARED) console.log(`           ${what}`)
  const absent = notAmong(storm.recoveries.flatMap(({ strikes }) => strikes))
  if (absent.length > 0) console.log(`not drawn: ${absent.join('; ')}`)
  console.log(recoveryTable(storm.recoveries))
} catch (error) {
  fail(error)
} finally {
  clients?.end()
  await world.stop(values.keep || process.exitCode === 1)
}

/** Everything is served and stored, and nothing is added any more. */
async function settle(): Promise<void> {
  await world.load.stop()
  await world.reaches(world.chain.head)
  // Their background work would go on; a message that is due by the clock, too.
  for (const role of world.roles.values()) if (role.role === 'reader') await role.stop('SIGTERM')
}

/** The rest is compared, too, after a difference: a run takes hours. */
async function expectEqual(compare: () => Promise<string>): Promise<void> {
  try {
    say(await compare())
  } catch (error) {
    fail(error)
  }
}

function fail(error: unknown): void {
  console.error(error)
  console.error(`${phase}; the last fault was ${storm.last}; logs are in ${world.dir}`)
  console.error(`failed: npm run chaos -- --kills ${kills} --seed ${seed}`)
  process.exitCode = 1
}

/** Whatever happens around it, a role waits and goes on. */
function expectNoExit(): void {
  const [exit] = [...world.roles.values()].flatMap(({ ownExits }) => ownExits)
  if (exit !== undefined) throw new Error(exit)
}
