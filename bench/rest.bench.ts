import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keys } from '../src/store/redis/keys.ts'
import { sized } from './form.ts'
import type { Bench, Sides, SliceOutcome } from './measure.ts'
import type { MgetPlan } from './rest/bare-mget.ts'
import { idOf, openGateway, PAIRS_OF_FIRST, PREFIX, TOKENS } from './rest/gateway.ts'
import { openLoad } from './rest/load.ts'
import { leaveServerCore, MeasuredProcess } from './rest/measured-process.ts'

const CONNECTIONS = 32
/** On a busy machine the seconds of the warm-up are not enough to have everything compiled; requests are. */
const WARM_UP_MS = sized({ full: 5_000, short: 2_000, smoke: 0 })

export const bench: Bench = {
  figures: [
    {
      name: 'token detail with key, quota and freshness / bare Fastify sending the same body',
      bar: 0.7,
      goal: 0.85,
      direction: 'at least',
      per: 'cpu second',
      open: openDetail,
    },
    {
      name: `prices of ${TOKENS} ids / bare MGET of their ${TOKENS} documents`,
      bar: 0.35,
      goal: 0.7,
      direction: 'at least',
      per: 'cpu second',
      open: openPrices,
    },
  ],
}

async function openDetail(): Promise<Sides> {
  leaveServerCore()
  const gateway = await openGateway()
  const path = `/v2/tokens/${gateway.tokens.map(idOf)[0]}`
  const body = await gateway.ask('GET', path)
  const { data } = JSON.parse(body.toString()) as { data: { pairs: unknown[] } }
  if (data.pairs.length !== PAIRS_OF_FIRST) throw new Error(`the answer has ${data.pairs.length} pairs`)
  const file = join(gateway.stack.dataDir, 'answer.json')
  writeFileSync(file, body)
  const bare = new MeasuredProcess(new URL('rest/bare-fastify.ts', import.meta.url), [file])
  const barePort = (await bare.hear()) as number
  const text = gateway.request('GET', path)
  const subject = await openLoad(gateway.process, { port: gateway.port, text, body }, CONNECTIONS)
  const baseline = await openLoad(bare, { port: barePort, text, body }, CONNECTIONS)
  await subject.slice(WARM_UP_MS)
  await baseline.slice(WARM_UP_MS)
  return {
    subject: subject.slice,
    baseline: baseline.slice,
    close: async () => {
      subject.close()
      baseline.close()
      await bare.stop()
      await gateway.stop()
    },
  }
}

async function openPrices(): Promise<Sides> {
  leaveServerCore()
  const gateway = await openGateway()
  const { port, tokens } = gateway
  const asked = JSON.stringify({ token_ids: tokens.map(idOf) })
  const body = await gateway.ask('POST', '/v2/tokens/price', asked)
  const prices = Object.keys(JSON.parse(body.toString()) as object).length
  if (prices !== TOKENS) throw new Error(`${prices} prices were prices`)
  const keys = new Keys(PREFIX)
  const plan: MgetPlan = {
    url: gateway.stack.redisUrl,
    keys: tokens.map(({ address }) => keys.token({ chain: 'eth', address })),
    underWay: CONNECTIONS,
  }
  const bare = new MeasuredProcess(new URL('rest/bare-mget.ts', import.meta.url), [JSON.stringify(plan)])
  await bare.hear()
  const text = gateway.request('POST', '/v2/tokens/price', asked)
  const subject = await openLoad(gateway.process, { port, text, body }, CONNECTIONS)
  await subject.slice(WARM_UP_MS)
  return {
    subject: subject.slice,
    baseline: async (durationMs) => (await bare.ask(durationMs)) as SliceOutcome,
    close: async () => {
      subject.close()
      await bare.stop()
      await gateway.stop()
    },
  }
}
