import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { RpcOutcome } from '../../src/chain/rpc/endpoint-reports.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import type { Fault, FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { BLOCKS, CHAIN_ID, EndpointRig } from './endpoint-rig.ts'

const FAULT_MOVES_EVERY = 60

let rig: EndpointRig

before(async () => {
  rig = await EndpointRig.start()
})

after(() => rig?.stop())

describe('a chain is read to the last log', () => {
  const faults: readonly Fault[] = [
    { kind: 'delay', delayMs: 300 },
    { kind: 'error' },
    { kind: 'limit', perSecond: 40, by: 'http' },
    { kind: 'limit', perSecond: 40, by: 'rpc' },
    { kind: 'reset' },
    { kind: 'empty' },
    { kind: 'truncated' },
    { kind: 'lie' },
    { kind: 'lag', blocks: BLOCKS / 2 },
    { kind: 'hang' },
    { kind: 'foreign' },
  ]

  for (const fault of faults) {
    const name = 'by' in fault ? `${fault.kind} by ${fault.by}` : fault.kind
    test(`while the endpoint most in use has the fault: ${name}`, async () => {
      const proxies = await rig.startProxies(3)
      const world = rig.openWorld()
      const hit = new Set<string>()
      await rig.readChain(world, (blocks) => {
        if (blocks % FAULT_MOVES_EVERY !== 1) return
        const favourite = rig.takeFavourite()
        for (const proxy of proxies) proxy.fault = proxy === favourite ? fault : { kind: 'none' }
        hit.add(favourite.label)
      })
      const outcome = OUTCOME_OF[fault.kind]
      if (outcome === undefined) return
      const named = proxies.filter(({ label }) => world.count(label, outcome) > 0).map(({ label }) => label)
      assert.ok(named.length > 0, `nobody is named as ${outcome}`)
      for (const label of named) assert.ok(hit.has(label), `${label} is named as ${outcome}, and is innocent`)
    })
  }

  test('with one good endpoint among many bad ones', async () => {
    const proxies = await rig.startProxies(faults.length + 1)
    faults.forEach((fault, index) => {
      const proxy = proxies[index]
      if (proxy !== undefined) proxy.fault = fault
    })
    const world = rig.openWorld()
    await rig.readChain(world)
    for (const { label, fault } of proxies) {
      const canAnswer = ['none', 'delay', 'lag', 'limit', 'lie'].includes(fault.kind)
      if (!canAnswer) assert.equal(world.up.get(label), false, `${label} ${fault.kind}`)
      const isWrong = ['lie', 'foreign'].includes(fault.kind)
      if (!isWrong) assert.equal(world.count(label, 'invalid'), 0, `${label} ${fault.kind}`)
    }
  })

  test('when all fail for a while', async () => {
    const proxies = await rig.startProxies(2)
    const world = rig.openWorld()
    await rig.readChain(world, (blocks) => {
      if (blocks !== 100) return
      for (const proxy of proxies) proxy.fault = { kind: 'reset' }
      setTimeout(() => {
        for (const proxy of proxies) proxy.fault = { kind: 'none' }
      }, 700)
    })
    assert.ok(world.lines.some(({ code }) => code === 'node_unavailable'))
  })
})

describe('the faulty endpoint', () => {
  test('a liar is named, and asked last from then on', async () => {
    const proxies = await rig.startProxies(3)
    const [liar] = proxies as [FaultyProxy]
    liar.fault = { kind: 'lie' }
    const world = rig.openWorld()
    // Made the favourite by the slowness of the others.
    for (const proxy of proxies.slice(1)) proxy.fault = { kind: 'delay', delayMs: 8 }
    await rig.readChain(world)
    assert.ok(world.count(liar.label, 'invalid') >= 1)
    assert.ok(world.count(liar.label, 'invalid') <= 12, 'not asked again and again')
    const lines = world.lines.filter(({ msg }) => msg === 'RPC endpoint returned invalid data')
    assert.ok(lines.length > 0)
    for (const line of lines) assert.equal(line['endpoint'], liar.label)
  })

  test('a laggard is named and left', async () => {
    const proxies = await rig.startProxies(2)
    const [laggard] = proxies as [FaultyProxy]
    laggard.fault = { kind: 'lag', blocks: 50 }
    const world = rig.openWorld()
    await rig.readChain(world)
    const { source } = world
    const until = performance.now() + 600
    while (performance.now() < until) await source.head()
    assert.ok(world.count(laggard.label, 'lagging') > 0)
    assert.equal(world.count(proxies[1]?.label ?? '', 'lagging'), 0)
    assert.equal((await source.head()).number, BLOCKS)
    const lines = world.lines.filter(({ msg }) => msg === 'RPC endpoint lagging')
    assert.deepEqual(
      lines.map((line) => line['endpoint']),
      [laggard.label],
    )
  })

  test('a block that one endpoint lacks is requested from the others; one that none has is unknown', async () => {
    const proxies = await rig.startProxies(2)
    const newest = await rig.openWorld().source.head()
    for (const proxy of proxies) {
      for (const other of proxies) other.fault = { kind: 'none' }
      proxy.fault = { kind: 'lag', blocks: 1 }
      const { source } = rig.openWorld()
      assert.deepEqual(await source.headerOf(newest.hash), newest)
      assert.deepEqual(await source.headerAt(newest.number), newest)
      assert.equal((await source.transactions(newest)).length, 1)
      assert.equal(await source.headerAt(BLOCKS + 1), undefined)
      assert.equal(await source.headerOf(`0x${'ab'.repeat(32)}`), undefined)
    }
  })

  test('an endpoint with another chain id is never read, and is reported if there is no other', async () => {
    const proxies = await rig.startProxies(2)
    const [foreign, own] = proxies as [FaultyProxy, FaultyProxy]
    foreign.fault = { kind: 'foreign' }
    const world = rig.openWorld()
    assert.equal(await world.rpc.chainId(), CHAIN_ID)
    await rig.readChain(world)
    assert.equal(world.up.get(foreign.label), false)
    own.fault = { kind: 'foreign' }
    assert.equal(await rig.openWorld().rpc.chainId(), 0x7777)
  })
})

describe('time', () => {
  test('a second endpoint is asked when the first one hangs', async () => {
    const proxies = await rig.startProxies(3)
    const { source } = rig.openWorld({ http: { timeoutMs: 5_000 } })
    for (let number = 0; number < 20; number++) await source.headerAt(number)
    rig.takeFavourite()
    const times: number[] = []
    for (let asked = 0; asked < 500; asked++) {
      if (asked % 100 === 50) {
        const favourite = rig.takeFavourite()
        for (const proxy of proxies) proxy.fault = { kind: proxy === favourite ? 'hang' : 'none' }
      }
      const start = performance.now()
      await source.headerAt(asked % BLOCKS)
      times.push(performance.now() - start)
    }
    times.sort((a, b) => a - b)
    const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN
    assert.ok(p99 < 400, `p99 ${p99.toFixed(0)} ms`)
    assert.ok((times.at(-1) ?? Number.NaN) < 2_000, `worst ${times.at(-1)?.toFixed(0)} ms`)
  })

  test('the rate follows what an endpoint takes, and its rests are kept', async () => {
    const proxies = await rig.startProxies(1)
    const [proxy] = proxies as [FaultyProxy]
    proxy.fault = { kind: 'limit', perSecond: 50, by: 'http' }
    const { source } = rig.openWorld()
    const until = performance.now() + 5_000
    let answered = 0
    const ask = async (): Promise<void> => {
      while (performance.now() < until) {
        const header = await source.headerAt(answered % BLOCKS).catch(() => undefined)
        if (header !== undefined) answered += 1
      }
    }
    await Promise.all([ask(), ask(), ask(), ask()])
    const { refused, accepted, whileResting } = proxy.seen
    assert.ok(answered > 50, `${answered} answered`)
    assert.ok(refused < accepted * 0.2, `${refused} refused, ${accepted} accepted`)
    assert.ok(whileResting <= 8, `${whileResting} came during a rest`)
  })

  test('the end of the process is not waited for', async () => {
    const proxies = await rig.startProxies(1)
    const [proxy] = proxies as [FaultyProxy]
    const world = rig.openWorld()
    await world.source.head()
    proxy.fault = { kind: 'hang' }
    const asked = assert.rejects(world.source.headerAt(1), /stop now/)
    setTimeout(() => world.stop.abort(new Error('stop now')), 50)
    const start = performance.now()
    await asked
    assert.ok(performance.now() - start < 500)
    await assert.rejects(world.source.head(), /stop now/)
  })
})

describe('secrets', () => {
  test('no credentials of a URL are reported', async () => {
    const proxies = await rig.startProxies(3)
    const [proxy, broken, talker] = proxies as [FaultyProxy, FaultyProxy, FaultyProxy]
    broken.fault = { kind: 'error' }
    talker.fault = { kind: 'echo' }
    const urls = proxies.map(({ url }) => {
      return `${url.replace('http://', 'http://user:secret-a@')}/v2/secret-bbbb?key=secret-cccc`
    })
    const world = rig.openWorld({ urls })
    await rig.readChain(world)
    assert.equal(proxy.lastAuthorization, `Basic ${Buffer.from('user:secret-a').toString('base64')}`)
    proxy.fault = { kind: 'reset' }
    const error: unknown = await world.source.head().catch((caught: unknown) => caught)
    assert.ok(error instanceof ChaintapeError && error.code === 'node_unavailable')
    assert.ok(error.message.includes(proxy.label))
    const reported = JSON.stringify([world.lines, [...world.counts], String(error.stack)])
    assert.match(reported, /not for/, 'the message of the node is reported')
    assert.doesNotMatch(reported, /secret|user|c2VjcmV0/)
    const mistyped = 'htp:/node/secret-d'
    assert.throws(
      () => rig.openWorld({ urls: [mistyped] }),
      (caught: unknown) => caught instanceof ChaintapeError && !caught.message.includes('secret'),
    )
  })

  test('an answer without end is cut off', async () => {
    await rig.startProxies(1)
    const { source } = rig.openWorld({ http: { maxResponseBytes: 500 } })
    await assert.rejects(source.head(), (error: unknown) => {
      return error instanceof ChaintapeError && /longer than 500 bytes/.test(error.message)
    })
  })
})

const OUTCOME_OF: Readonly<Partial<Record<Fault['kind'], RpcOutcome>>> = {
  error: 'failed',
  reset: 'failed',
  empty: 'failed',
  truncated: 'failed',
  lie: 'invalid',
  hang: 'timeout',
  limit: 'rate_limited',
}
