import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { ChaintapeError } from '../../domain/errors.ts'
import { EVM_PROBE } from '../evm/rpc/rpc.ts'
import { EndpointPool, type EndpointSession, type PoolSettings } from './endpoint-pool.ts'
import type { RpcOutcome } from './endpoint-reports.ts'
import { RpcFailure } from './rpc-failure.ts'

type Script = (method: string, asked: number) => { afterMs: number; answer: unknown }

describe('the pool', () => {
  let now = 0
  let counts: Map<string, number>

  beforeEach(() => {
    now = 0
    counts = new Map()
    mock.timers.enable({ apis: ['setTimeout'] })
  })
  afterEach(() => mock.timers.reset())

  /** Lets virtual time pass until the promise is settled. */
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    let isOpen = true
    const end = promise.finally(() => {
      isOpen = false
    })
    end.catch(() => undefined)
    for (let turns = 0; isOpen && turns < 200_000; turns++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!isOpen) break
      now += 1
      mock.timers.tick(1)
    }
    return end
  }
  const pass = (ms: number): Promise<void> => settle(new Promise((resolve) => setTimeout(resolve, ms)))

  const openPool = (scripts: readonly Script[], settings: Partial<PoolSettings> = {}) => {
    const asked: string[][] = scripts.map(() => [])
    const stats = { inFlight: 0, most: 0, aborted: 0 }
    const clients = scripts.map((script, index) => ({
      label: `${index}:node`,
      request: (method: string, _params: readonly unknown[], signal: AbortSignal) => {
        const own = asked[index] as string[]
        own.push(method)
        stats.inFlight += 1
        stats.most = Math.max(stats.most, stats.inFlight)
        const { afterMs, answer } = isLook(method)
          ? lookAnswer(script, method, own)
          : script(method, own.length)
        return new Promise((resolve, reject) => {
          const timer = setTimeout(
            () => (answer instanceof Error ? reject(answer) : resolve(answer)),
            afterMs,
          )
          signal.addEventListener('abort', () => {
            clearTimeout(timer)
            stats.aborted += 1
            reject(signal.reason)
          })
        }).finally(() => {
          stats.inFlight -= 1
        })
      },
    }))
    const pool = new EndpointPool({
      probe: EVM_PROBE,
      clients,
      chainId: 1,
      logger: pino({ level: 'silent' }),
      signal: new AbortController().signal,
      now: () => now,
      settings: { lookEveryMs: 1e9, ...settings },
      metrics: {
        answered: (label: string, outcome: RpcOutcome) => {
          counts.set(`${label} ${outcome}`, (counts.get(`${label} ${outcome}`) ?? 0) + 1)
        },
        up: () => undefined,
      },
    })
    const work = (index: number): number => asked[index]?.filter((method) => !isLook(method)).length ?? 0
    return { pool, asked, stats, work, ask: () => settle(pool.run(block)) }
  }

  test('goes to the faster one and stays there', async () => {
    const { ask, work } = openPool([takes(40), takes(10), takes(11)])
    for (let questions = 0; questions < 50; questions++) await ask()
    assert.ok(work(1) >= 45, `${[work(0), work(1), work(2)]}`)
  })

  test('does not go back and forth between two that are about as fast', async () => {
    const wobbling = (shift: number): Script => {
      return (_method, asked) => ({ afterMs: 10 + ((asked * 7 + shift) % 5), answer: 'block' })
    }
    const { ask, work } = openPool([wobbling(0), wobbling(3)])
    for (let questions = 0; questions < 100; questions++) await ask()
    assert.ok(Math.min(work(0), work(1)) <= 3, `${work(0)} and ${work(1)}`)
  })

  test('asks another one when one fails, and leaves that one alone until it proves itself', async () => {
    const { ask, asked, work } = openPool([
      (method) => ({ afterMs: 1, answer: isLook(method) ? '0x1' : new RpcFailure('failed', 'HTTP 500') }),
      takes(20),
    ])
    for (let questions = 0; questions < 20; questions++) assert.equal(await ask(), 'block')
    assert.ok(work(0) <= 3, `${work(0)} questions to the broken one`)
    const failedAt = asked[0]?.lastIndexOf('eth_getBlockByNumber') ?? -1
    await pass(60_000)
    await ask()
    assert.ok(asked[0]?.slice(failedAt + 1).includes('eth_chainId'), 'a probe comes first')
  })

  test('asks a second one when the first takes three times as long as usual', async () => {
    let isHanging = false
    const { ask, stats } = openPool([
      () => ({ afterMs: isHanging ? 1e6 : 30, answer: 'block' }),
      (method) => ({ afterMs: isLook(method) ? 60 : 40, answer: 'block' }),
    ])
    for (let questions = 0; questions < 10; questions++) await ask()
    isHanging = true
    const start = now
    assert.equal(await ask(), 'block')
    const tookMs = now - start
    assert.ok(tookMs >= 120 && tookMs < 150, `${tookMs} ms`)
    assert.equal(stats.aborted, 1, 'the one that lost is not waited for')
    assert.equal(counts.get('0:node timeout'), 1)
  })

  test('one that is outrun is not tried again with every question', async () => {
    let isHanging = false
    const { ask, work } = openPool([
      (method) => ({ afterMs: isHanging && !isLook(method) ? 1e6 : 10, answer: 'block' }),
      takes(60),
    ])
    for (let questions = 0; questions < 10; questions++) await ask()
    isHanging = true
    const before = work(0)
    for (let questions = 0; questions < 30; questions++) assert.equal(await ask(), 'block')
    assert.ok(work(0) - before <= 3, `${work(0) - before} more questions`)
  })

  test('does not ask twice as much when all are slow now and then', async () => {
    let delayMs = 1
    const { ask, work } = openPool([
      () => ({ afterMs: delayMs, answer: 'block' }),
      () => ({ afterMs: delayMs, answer: 'block' }),
    ])
    for (let questions = 0; questions < 200; questions++) {
      delayMs = questions % 4 === 3 ? 200 : 1
      await ask()
    }
    const twice = work(0) + work(1) - 200
    assert.ok(twice > 10 && twice <= 10 + 200 / 10, `${twice} questions were asked twice`)
  })

  test('keeps to so many requests at a time', async () => {
    const { pool, stats, work } = openPool([takes(20)], { maxInFlight: 3 })
    await settle(Promise.all(Array.from({ length: 30 }, () => pool.run(block))))
    assert.equal(stats.most, 3)
    assert.equal(work(0), 30)
  })

  test('waits for a rate limited endpoint if there is no other', async () => {
    let refusals = 1
    const { ask } = openPool([
      (method) => ({
        afterMs: 1,
        answer:
          !isLook(method) && refusals-- > 0 ? new RpcFailure('rate_limited', 'HTTP 429', 3_000) : 'block',
      }),
    ])
    assert.equal(await ask(), 'block')
    assert.ok(now >= 3_000 && now < 4_000, `${now}`)
  })

  test('a rest longer than its patience, or nobody at all, is node_unavailable, with names', async () => {
    const failing: Script = () => ({ afterMs: 1, answer: new RpcFailure('failed', 'HTTP 500') })
    const resting: Script = () => ({
      afterMs: 1,
      answer: new RpcFailure('rate_limited', 'HTTP 429', 60_000),
    })
    for (const script of [failing, resting]) {
      await assert.rejects(openPool([script, failing]).ask(), (error: unknown) => {
        assert.ok(error instanceof ChaintapeError)
        assert.equal(error.code, 'node_unavailable')
        assert.match(error.message, /0:node: HTTP.*1:node: HTTP 500/)
        return true
      })
    }
  })

  test('a response that the caller rejects counts against its endpoint', async () => {
    const { pool } = openPool([takes(5, 'lie'), takes(10, 'truth')])
    const ask = async (session: EndpointSession): Promise<unknown> => {
      const answer = await session.request('eth_getBlockReceipts', [])
      if (answer === 'lie') throw new ChaintapeError('node_answer_invalid', 'wrong root')
      return answer
    }
    for (let questions = 0; questions < 20; questions++) {
      assert.equal(await settle(pool.run(ask)), 'truth')
      await pass(100)
    }
    assert.equal(counts.get('1:node invalid'), undefined)
    const lies = counts.get('0:node invalid') ?? 0
    assert.ok(lies >= 1 && lies <= 3, `${lies} lies`)
  })

  test('an unknown block is asked from all before that is believed', async () => {
    const { pool, work } = openPool([takes(5, null), takes(10, 'block')])
    assert.equal(await settle(pool.run(knownBlock)), 'block')
    assert.equal(counts.get('0:node lagging'), 1)
    counts.clear()
    const ignorant = openPool([takes(5, null), takes(10, null)])
    assert.equal(await settle(ignorant.pool.run(knownBlock)), null)
    assert.equal(ignorant.work(0) + ignorant.work(1), 2)
    assert.equal(counts.get('0:node lagging'), undefined, 'nobody lags if nobody has it')
    assert.ok(work(1) === 1)
  })

  test('a method that one of them lacks is asked of it once, and of the others instead', async () => {
    const missing = new RpcFailure('unsupported', 'error -32601')
    const { ask, work } = openPool([takes(5, missing), takes(10)])
    for (let questions = 0; questions < 10; questions++) assert.equal(await ask(), 'block')
    assert.deepEqual([work(0), work(1)], [1, 10])
    assert.equal(counts.get('0:node unsupported'), 1)
    await assert.rejects(
      openPool([takes(5, missing)]).ask(),
      /no RPC endpoint responded \(0:node: error -32601\)/,
    )
  })

  test('too many logs for all of them is node_answer_too_large, and none is blamed or paused', async () => {
    const refusing = takes(5, new RpcFailure('too_many_logs', 'limited to 10 blocks'))
    const { ask, work } = openPool([refusing, refusing])
    for (let questions = 0; questions < 5; questions++) {
      await assert.rejects(ask(), { code: 'node_answer_too_large' })
    }
    assert.deepEqual([work(0), work(1)], [5, 5])
    assert.equal(counts.get('0:node failed'), undefined)
  })

  test('one endpoint can be asked alone, and all others to confirm it', async () => {
    const failing = takes(5, new RpcFailure('failed', 'HTTP 500'))
    const { pool, work } = openPool([takes(5, 'a'), takes(50, 'b'), failing, takes(5, 'd')])
    assert.equal(await settle(pool.run(block, { only: '1:node' })), 'b')
    const { asked, answers } = await settle(pool.elsewhere('1:node', block))
    assert.deepEqual([asked, answers], [3, ['a', 'd']])
    assert.equal(work(1), 1)
    pool.blame('1:node', 'the others deny it')
    assert.equal(counts.get('1:node invalid'), 1)
    await assert.rejects(settle(pool.run(block, { only: '1:node' })), /1:node: the others deny it/)
  })

  test('the response of the only good endpoint is found, whatever the others do', async () => {
    const fault = fc.constantFrom<unknown>(
      new RpcFailure('failed', 'HTTP 500'),
      new RpcFailure('timeout', 'no answer'),
      new RpcFailure('rate_limited', 'HTTP 429', 2_000),
      new RpcFailure('unknown_block', 'header not found'),
      null,
      'lie',
    )
    const faults = fc.array(fc.tuple(fault, fc.nat(50)), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(faults, fc.nat(4), async (bad, place) => {
        const scripts: Script[] = bad.map(([answer, afterMs]) => () => ({ afterMs, answer }))
        scripts.splice(place, 0, takes(20))
        const { pool } = openPool(scripts)
        const answer = await settle(
          pool.run(async (session) => {
            const found = await knownBlock(session)
            if (found === 'lie') throw new ChaintapeError('node_answer_invalid', 'wrong root')
            return found
          }),
        )
        assert.equal(answer, 'block')
      }),
      { numRuns: 60 },
    )
  })
})

function takes(afterMs: number, answer: unknown = 'block'): Script {
  return () => ({ afterMs, answer })
}

/** Works as well, and takes as long, as the script says. */
function lookAnswer(script: Script, method: string, asked: readonly string[]): ReturnType<Script> {
  const { afterMs, answer } = script(method, asked.length)
  const isFailing = answer instanceof RpcFailure && answer.kind === 'failed'
  return { afterMs, answer: isFailing ? answer : '0x1' }
}

function isLook(method: string): boolean {
  return method === 'eth_chainId' || method === 'eth_blockNumber'
}

function block(session: EndpointSession): Promise<unknown> {
  return session.request('eth_getBlockByNumber', [])
}

async function knownBlock(session: EndpointSession): Promise<unknown> {
  const answer = await block(session)
  if (answer === null) session.missedBlock()
  return answer
}
