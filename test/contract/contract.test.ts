import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { faultsOf, type Knowledge } from './faults.ts'
import { differs, freshnessFaults, problemFaults, unitFaults } from './headers.ts'
import { LIST_BEHAVIOURS } from './list-behaviours.ts'
import { descriptionFaults } from './openapi.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { PAIR_BEHAVIOURS } from './pair-behaviours.ts'
import { refusalsOf } from './refusals.ts'
import { type Answer, type Given, type Request, requestOf, send } from './requests.ts'
import { TOKEN_BEHAVIOURS } from './token-behaviours.ts'
import { SMALL_QUOTA, startWorld, type World } from './world.ts'

/** Every row of the tables of permissions and responses, one after the other, against a running gateway. */

let world: World
/** Balance of the valid key after its last response. */
let remaining: number

before(async () => {
  world = await startWorld()
  const { headers } = await send(world, { method: 'GET', path: '/v2/usage', key: 'good' })
  remaining = Number(headers.get('x-cu-remaining'))
})

after(() => world?.stop())

/** Every answer says what it cost, and that is what the key has less. */
async function ask(request: Request, cost: number): Promise<{ answer: Answer; faults: string[] }> {
  const answer = await send(world, request)
  if (request.key !== 'good')
    return { answer, faults: differs('X-CU-Cost', answer.headers.get('x-cu-cost'), '0') }
  const faults = unitFaults(answer, cost)
  const left = Number(answer.headers.get('x-cu-remaining'))
  faults.push(...differs('what the key has left', left, remaining - cost))
  remaining = left
  return { answer, faults }
}

async function succeed(operation: Operation, given: Given, knowledge: Knowledge) {
  const { answer, faults } = await ask(requestOf(operation, given, world.names), operation.cost)
  const { status, body, headers } = answer
  if (status !== 200) return { body, faults: [`status ${status}: ${JSON.stringify(body)}`] }
  faults.push(
    ...differs('Content-Type', headers.get('content-type')?.split(';')[0], 'application/json'),
    ...freshnessFaults(answer, world, operation.about),
    ...faultsOf(operation.answer, body, knowledge),
  )
  return { body, faults }
}

for (const operation of OPERATIONS) {
  const { name, method, path, example, inputs } = operation

  describe(`${method} ${path}: ${name}`, () => {
    test('answers with the fields, the cost and the headers of the table', async () => {
      const { faults } = await succeed(operation, example, operation.knowledge ?? 'full')
      assert.deepEqual(faults, [])
    })

    if (operation.key === 'needed') {
      test('needs a key that is good', async () => {
        const request = requestOf(operation, example, world.names)
        const rows = [
          ...[undefined, { text: '' }, { text: 'wrong' }].map((key) => ({
            key,
            status: 401,
            code: 'unauthorized',
          })),
          ...(['expired', 'revoked'] as const).map((key) => ({ key, status: 403, code: 'forbidden' })),
        ]
        for (const { key, ...wanted } of rows) {
          const { answer, faults } = await ask({ ...request, key }, 0)
          assert.deepEqual([...faults, ...problemFaults(answer, wanted)], [], JSON.stringify(key))
        }
      })
    }

    test('refuses what is malformed, unknown or too much, and charges nothing', async () => {
      for (const { why, given, code, pointer } of refusalsOf(operation)) {
        const { answer, faults } = await ask(requestOf(operation, given, world.names), 0)
        faults.push(...problemFaults(answer, { status: 400, code, pointer }))
        const isChainKnown = code === 'unknown_token' || code === 'unknown_pair'
        if (isChainKnown) faults.push(...freshnessFaults(answer, world, operation.about))
        assert.deepEqual(faults, [], why)
      }
    })

    test('has no other method, and no other path', async () => {
      const request = requestOf(operation, example, world.names)
      const others = [
        ...['PUT', 'DELETE', 'PATCH'].map((other) => ({ ...request, method: other })),
        { method, path: `${request.path.split('?')[0]}/x/y` },
        { method, path: request.path.replace(/^\/\w+/, '/v3') },
      ]
      for (const other of others) {
        const { answer, faults } = await ask({ ...other, key: undefined }, 0)
        assert.deepEqual(
          [...faults, ...problemFaults(answer, { status: 404, code: 'not_found' })],
          [],
          other.path,
        )
      }
    })

    test('takes every value that the table names, up to the maximum', async () => {
      for (const { name: input, type, maximum } of inputs) {
        const values: unknown[] = typeof type === 'string' ? [] : [...type]
        if (type === 'integer' && maximum !== undefined) values.push(maximum)
        if (type === 'token-ids') values.push(Array(maximum).fill('$token'), [])
        for (const value of values) {
          const { faults } = await succeed(operation, { ...example, [input]: value }, 'some')
          assert.deepEqual(faults, [], `${input}=${JSON.stringify(value).slice(0, 80)}`)
        }
      }
    })

    test('uses the defaults of the table', async () => {
      for (const { name: input, default: fallback } of inputs) {
        if (fallback === undefined) continue
        const without = await succeed(operation, example, 'some')
        const withDefault = await succeed(operation, { ...example, [input]: fallback }, 'some')
        assert.deepEqual([...without.faults, ...withDefault.faults], [])
        assert.deepEqual(without.body, withDefault.body, input)
      }
    })
  })
}

describe('inputs', () => {
  const behaviours = [...TOKEN_BEHAVIOURS, ...LIST_BEHAVIOURS, ...PAIR_BEHAVIOURS]
  for (const { name, operation: wanted, given, check, knowledge = 'some' } of behaviours) {
    test(`${wanted}: ${name}`, async () => {
      const operation = OPERATIONS.find((each) => each.name === wanted)
      assert.ok(operation !== undefined)
      const { body, faults } = await succeed(operation, given, knowledge)
      assert.deepEqual(faults, [])
      await check(body as never, world.names, async (other) => {
        const again = await succeed(operation, other, knowledge)
        assert.deepEqual(again.faults, [])
        return again.body
      })
    })
  }

  test('/udf/time is plain text, in seconds', async () => {
    const { answer, faults } = await ask({ method: 'GET', path: '/udf/time', key: 'good' }, 0)
    assert.deepEqual([answer.status, answer.headers.get('content-type')?.split(';')[0]], [200, 'text/plain'])
    assert.ok(Math.abs(Number(answer.body) - Date.now() / 1_000) < 5)
    assert.deepEqual(faults, [])
  })

  test('from after to is refused', async () => {
    const path = `/v2/klines/pair/${world.names.pair}-local?from=5&to=4`
    const { answer, faults } = await ask({ method: 'GET', path, key: 'good' }, 0)
    const wanted = { status: 400, code: 'malformed_request', pointer: '#/from' }
    assert.deepEqual([...faults, ...problemFaults(answer, wanted)], [])
  })

  test('the usage of a month that is none is refused', async () => {
    const { answer, faults } = await ask({ method: 'GET', path: '/v2/usage?month=2026-13', key: 'good' }, 0)
    const wanted = { status: 400, code: 'malformed_request', pointer: '#/month' }
    assert.deepEqual([...faults, ...problemFaults(answer, wanted)], [])
  })

  test('bodies that are no JSON of the documented form are refused', async () => {
    const id = JSON.stringify(`${world.names.token}-local`)
    const rows: readonly (readonly [body: string, code: string, headers?: Record<string, string>])[] = [
      ['', 'malformed_request'],
      ['{', 'malformed_request'],
      ['null', 'malformed_request'],
      ['[]', 'malformed_request'],
      [`[${id}]`, 'malformed_request'],
      [`{"token_ids":[${id}],"__proto__":{"x":1}}`, 'malformed_request'],
      [`{"token_ids":[${id}],"tvl_min":1e999}`, 'malformed_request'],
      [`{"token_ids":[${id}]}`, 'malformed_request', { 'content-type': 'text/plain' }],
      [`{"token_ids":[${id}]}`, 'malformed_request', { 'content-type': 'application/x-www-form-urlencoded' }],
      [`{"token_ids":["${'x'.repeat(33_000)}"]}`, 'limit_exceeded'],
    ]
    for (const [body, code, headers] of rows) {
      const request = { method: 'POST', path: '/v2/tokens/price', body, key: 'good' as const }
      const { answer, faults } = await ask({ ...request, ...(headers ? { headers } : {}) }, 0)
      const wrong = [...faults, ...problemFaults(answer, { status: 400, code })]
      // A valid key gets its remaining units even if its body cannot be read.
      assert.deepEqual(wrong, [], body.slice(0, 80))
    }
  })
})

describe('429', () => {
  test('exhausted credit units: Retry-After is the end of the month; free operations are still served', async () => {
    const path = `/v2/pairs/${world.names.pair}-local`
    const outcome = async (key: 'small', to: string) => {
      const answer = await send(world, { method: 'GET', path: to, key })
      return { answer, left: answer.headers.get('x-cu-remaining') }
    }
    for (const left of [SMALL_QUOTA - 5, SMALL_QUOTA - 10]) {
      const served = await outcome('small', path)
      assert.deepEqual([served.answer.status, served.left], [200, String(left)])
    }
    const refused = await outcome('small', path)
    assert.deepEqual(problemFaults(refused.answer, { status: 429, code: 'quota_exhausted' }), [])
    assert.deepEqual(unitFaults(refused.answer, 0), [])
    assert.equal(refused.left, String(SMALL_QUOTA - 10))
    const { headers } = refused.answer
    const untilReset = Number(headers.get('x-cu-reset')) - Date.now() / 1_000
    assert.ok(Math.abs(Number(headers.get('retry-after')) - untilReset) < 5, `${headers.get('retry-after')}`)
    assert.equal((await outcome('small', '/v2/usage')).answer.status, 200)
  })

  test('too many requests at once: Retry-After is when the next one is allowed', async () => {
    const path = `/v2/pairs/${world.names.pair}-local`
    const ask = () => send(world, { method: 'GET', path, key: 'slow' })
    assert.equal((await ask()).status, 200)
    const answers = await Promise.all(Array.from({ length: 7 }, ask))
    const refused = answers.filter(({ status }) => status === 429)
    assert.ok(refused.length >= 5 && refused.length <= 6, `${refused.length} of 7 refused`)
    for (const answer of refused) {
      assert.deepEqual(problemFaults(answer, { status: 429, code: 'rate_limited' }), [])
      assert.deepEqual(unitFaults(answer, 0), [])
      assert.equal(answer.headers.get('retry-after'), '1')
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    assert.equal((await ask()).status, 200)
  })
})

test('no operation: 404, as a problem', async () => {
  for (const path of ['//', '/v2', '/v2/', '/v2/nothing', '/__proto__', '/v2/tokens/price/x', '/V2/chains']) {
    const { answer, faults } = await ask({ method: 'GET', path, key: undefined }, 0)
    assert.deepEqual([...faults, ...problemFaults(answer, { status: 404, code: 'not_found' })], [], path)
  }
})

test('/openapi.json describes the same tables, and is an OpenAPI 3.1 document', async () => {
  const { status, body } = await send(world, { method: 'GET', path: '/openapi.json', key: undefined })
  assert.equal(status, 200)
  assert.deepEqual(descriptionFaults(body), [])
})
