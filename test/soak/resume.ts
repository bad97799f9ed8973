import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { waitFor } from '../support/rigs/wait-for.ts'
import { diceOf } from './options.ts'
import { Clients } from './resume/clients.ts'
import { checkExpiredCursor, checkForeignCursor, cursorOf } from './resume/cursor-checks.ts'
import { SoakMarket } from './resume/market.ts'
import { type Subject, subjectKey } from './resume/subject.ts'
import { ResumeWorld } from './resume/world.ts'

/**
 * Disconnects many clients of two gateways at random and kills the gateways while the market trades and reorgs. Every
 * client reconnects to the other gateway with its last cursor. In the end each must have received every push exactly
 * once, and no false `recovered`.
 *
 *   npm run soak:resume -- --clients 1000 --deliveries 1000000 --disconnects 1000 --kills 20 --seed 1
 */

const CLIENTS_PER_PAIR = 25
const FOREIGN_CURSORS = 12
const SETS_AT_ONCE = 8
/** Pushes in flight for each client before the market waits. */
const PUSHES_AHEAD = 100
const NO_PROGRESS_MS = 10_000
const FAULTS_SHOWN = 20

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '1000' },
    deliveries: { type: 'string', default: '1000000' },
    disconnects: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
})
const target = {
  clients: Number(values.clients),
  deliveries: Number(values.deliveries),
  disconnects: Number(values.disconnects),
  kills: Number(values.kills),
}
const seed = Number(values.seed)
const roll = diceOf(seed)
let [ordered, kills] = [0, 0]
const market = new SoakMarket(Math.max(4, Math.ceil(target.clients / CLIENTS_PER_PAIR)), roll)
const subjects = market.subjects(target.clients)
/** The first three clients subscribe to different topics. */
const oneOfEach = subjects.slice(0, 3)
const world = await ResumeWorld.start()
let clients: Clients | undefined
try {
  const begun = Date.now()
  await world.publish(market.first())
  await world.store()
  await world.startGateways()
  clients = new Clients(subjects, await world.urls())
  await allSubscribed(clients)
  const early = await Promise.all(oneOfEach.map(async (one) => cursorOf((await world.urls())[0] ?? '', one)))
  await storm(clients)
  await settled(clients)
  for (const subject of subjects.slice(0, FOREIGN_CURSORS))
    await checkForeignCursor(await world.urls(), subject)
  await report(clients, Date.now() - begun)
  await world.truncateLog()
  const [url = ''] = await world.urls()
  for (const [index, subject] of oneOfEach.entries())
    await checkExpiredCursor(url, subject, early[index] ?? '', market.swapsLeft(subject.address))
  console.log('cursors older than the log: swaps were replayed from history, other events were not recovered')
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await clients?.stop()
  await world.stop()
}
if (process.exitCode === 1) {
  const options = Object.entries(target).map(([name, count]) => `--${name} ${count}`)
  console.error(`failed: npm run soak:resume -- ${options.join(' ')} --seed ${seed}`)
}

async function storm(all: Clients): Promise<void> {
  let killing: Promise<void> | undefined
  let failure: unknown
  let reported = 0
  const isOver = (): boolean =>
    market.deliveries >= target.deliveries &&
    all.cuts >= target.disconnects &&
    kills >= target.kills &&
    killing === undefined
  while (!isOver()) {
    if (failure !== undefined) throw failure
    for (let set = 0; set < SETS_AT_ONCE; set++) await world.publish(market.next())
    await world.store()
    const share = Math.min(1, market.deliveries / target.deliveries)
    // Some hit a client that is disconnected already, so the end makes up for them.
    const due = share < 1 ? share * target.disconnects - ordered : target.disconnects - all.cuts
    for (let cut = 0; cut < due; cut++, ordered++) all.cut(roll(target.clients), 1 + roll(40), roll(500))
    if (killing === undefined && kills < share * target.kills) {
      kills++
      killing = kill(all)
        .catch((error: unknown) => {
          failure = error
        })
        .finally(() => {
          killing = undefined
        })
    }
    await keepUp(all, killing !== undefined)
    if (market.deliveries - reported < target.deliveries / 10) continue
    reported = market.deliveries
    console.log(`${reported} pushes, ${all.cuts} cuts, ${kills} kills, ${market.undos} undos`)
  }
}

/** The next kill may follow as soon as this gateway is back, so that its clients move twice. */
async function kill(all: Clients): Promise<void> {
  await sleep(roll(500))
  await world.killGateway(roll(2))
  all.useGateways(await world.urls())
}

/** Waits until few pushes are in flight. While a gateway is down, the market continues slowly. */
async function keepUp(all: Clients, isKilling: boolean): Promise<void> {
  if (isKilling) await sleep(200)
  const longest = Date.now() + (isKilling ? 1_000 : 5_000)
  while (market.deliveries - all.received > target.clients * PUSHES_AHEAD && Date.now() < longest)
    await sleep(20)
}

async function allSubscribed(all: Clients): Promise<void> {
  await waitFor(
    'all clients to be subscribed',
    () => (all.subscribed === target.clients ? true : undefined),
    120_000,
  )
}

/** Waits until every push has arrived or none arrives any more, then for any that should not come. */
async function settled(all: Clients): Promise<void> {
  let [received, since] = [-1, Date.now()]
  while (all.received < market.deliveries && Date.now() - since < NO_PROGRESS_MS) {
    if (all.received !== received) [received, since] = [all.received, Date.now()]
    await sleep(50)
  }
  await allSubscribed(all)
  await sleep(1_000)
}

async function report(all: Clients, elapsedMs: number): Promise<void> {
  const { received, cuts } = all
  const keys = new Set(subjects.map((subject: Subject) => subjectKey(subject)))
  const results = await all.compare(new Map(Array.from(keys, (key) => [key, market.pushesOf(key)])))
  const faults = results.flatMap((result) => result.faults)
  const conflated = results.reduce((total, result) => total + result.conflated, 0)
  const counted = await world.conflations()
  if (conflated > counted) faults.push(`${conflated} candles were conflated, the gateways counted ${counted}`)
  const resumes = results.reduce((total, { resumed }) => total + resumed, 0)
  const closes = new Map<number, number>()
  for (const [code, count] of results.flatMap((result) => [...result.closes]))
    closes.set(code, (closes.get(code) ?? 0) + count)
  console.log(
    `${target.clients} clients, ${received} deliveries of ${market.deliveries} to make, ` +
      `${cuts} cuts, ${kills} gateways killed, ${market.undos} undos, ` +
      `${resumes} resumed, ${conflated} candles conflated, ` +
      `${FOREIGN_CURSORS} foreign cursors, closed by code ${JSON.stringify(Object.fromEntries(closes))}, ` +
      `${Math.round(elapsedMs / 1_000)} s; ${faults.length} faults; seed ${seed}`,
  )
  for (const fault of faults.slice(0, FAULTS_SHOWN)) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
}
