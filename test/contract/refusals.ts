import type { Input, Operation } from './operations.ts'
import type { Given } from './requests.ts'

/** What has to be refused, by what an operation's table says of each input. */

export type Refusal = {
  readonly why: string
  readonly given: Given
  readonly code: string
  /** Where `errors` must point to. */
  readonly pointer: string
}

const UNKNOWN_ADDRESS = `0x${'1'.repeat(40)}`
const MALFORMED_IDS = [
  'x',
  '-local',
  'x-local',
  UNKNOWN_ADDRESS,
  `${UNKNOWN_ADDRESS}-`,
  `${UNKNOWN_ADDRESS}-LOCAL`,
  `${UNKNOWN_ADDRESS}0-local`,
  `${UNKNOWN_ADDRESS.slice(0, -1)}g-local`,
  `${UNKNOWN_ADDRESS} -local`,
  `${UNKNOWN_ADDRESS}-local\n`,
  '\u0000-local',
]
const NOT_INTEGERS = ['abc', '', '1.5', '1e2', '0x10', ' 5', '+5', '5;', 'NaN', '99999999999999999999']
const NOT_BODY_INTEGERS = ['5', 1.5, null, true, [1], {}]

export function refusalsOf(operation: Operation): Refusal[] {
  const { example, inputs } = operation
  const extra = { why: 'an input that is not there', given: { ...example, not_there: 1 } }
  return [
    { ...extra, code: 'malformed_request', pointer: '#/not_there' },
    ...inputs.flatMap((input) =>
      refusedValues(input).map(({ why, value, code = 'malformed_request', pointer = `#/${input.name}` }) => {
        const given: Record<string, unknown> = { ...example, [input.name]: value }
        if (value === undefined) delete given[input.name]
        return { why: `${input.name}: ${why}`, given, code, pointer }
      }),
    ),
  ]
}

type Refused = { why: string; value: unknown; code?: string; pointer?: string }

function refusedValues(input: Input): Refused[] {
  const refused: Refused[] = []
  const { name, required, type } = input
  if (required && input.in !== 'path') refused.push({ why: 'is required', value: undefined })
  if (input.in === 'query') refused.push({ why: 'twice', value: ['1', '1'] })
  if (type === 'integer') refused.push(...refusedIntegers(input))
  else if (type === 'chain') {
    for (const value of ['tron', '', 'LOCAL', '__proto__', 'constructor']) {
      refused.push({ why: `unknown chain '${value}'`, value, code: 'unknown_chain' })
    }
  } else if (type === 'token-id' || type === 'pair-id') refused.push(...refusedIds(input))
  else if (type === 'token-ids') refused.push(...refusedArrays(input))
  else if (typeof type !== 'string') {
    for (const value of ['nonsense', '', `${type[0]} `]) {
      refused.push({ why: `not one of its values: '${value}'`, value })
    }
  } else if (name === 'tag') {
    for (const value of ['pump_in_hot', 'uniswap_v2_in_hot', 'MEME', '', '_in_hot', '__proto__']) {
      refused.push({ why: `no tag: '${value}'`, value, code: 'unknown_tag' })
    }
  } else if (name === 'cursor') refused.push({ why: 'not ours', value: 'nonsense' })
  return refused
}

function refusedIntegers(input: Input): Refused[] {
  const values = input.in === 'body' ? NOT_BODY_INTEGERS : NOT_INTEGERS
  const refused: Refused[] = values.map((value) => ({ why: `no integer: ${JSON.stringify(value)}`, value }))
  const { minimum, maximum } = input
  if (minimum !== undefined) refused.push({ why: 'below the minimum', value: minimum - 1 })
  if (maximum !== undefined) {
    refused.push({ why: 'above the maximum', value: maximum + 1, code: 'limit_exceeded' })
    refused.push({ why: 'far above the maximum', value: 999_999_999_999, code: 'limit_exceeded' })
  }
  return refused
}

function refusedIds({ type }: Input): Refused[] {
  const kind = type === 'token-id' ? 'token' : 'pair'
  const refused: Refused[] = MALFORMED_IDS.map((value) => ({
    ...{ why: `malformed: ${JSON.stringify(value)}`, value, code: 'malformed_id' },
  }))
  refused.push(
    { why: 'unknown chain', value: `${UNKNOWN_ADDRESS}-tron`, code: 'unknown_chain' },
    { why: 'well-formed, not known', value: `${UNKNOWN_ADDRESS}-local`, code: `unknown_${kind}` },
    {
      ...{ why: 'an id of 32 bytes', value: `0x${'1'.repeat(64)}-local` },
      code: kind === 'pair' ? 'unknown_pair' : 'malformed_id',
    },
  )
  return refused
}

function refusedArrays({ maximum = 0 }: Input): Refused[] {
  const wrong: Refused[] = ['x', null, {}, 5].map((value) => ({
    ...{ why: `no array: ${JSON.stringify(value)}`, value },
  }))
  for (const item of [5, null, {}, ['$token']]) {
    const why = `an item that is no text: ${JSON.stringify(item)}`
    wrong.push({ why, value: ['$token', item], pointer: '#/token_ids/1' })
  }
  for (const id of MALFORMED_IDS) {
    wrong.push({
      ...{ why: `a malformed id: ${JSON.stringify(id)}`, value: ['$token', id] },
      ...{ code: 'malformed_id', pointer: '#/token_ids/1' },
    })
  }
  return [
    ...wrong,
    {
      ...{ why: 'a malformed id after one of an unknown chain', value: [`${UNKNOWN_ADDRESS}-tron`, 'x'] },
      ...{ code: 'malformed_id', pointer: '#/token_ids/1' },
    },
    { why: 'too many items', value: Array(maximum + 1).fill('$token'), code: 'limit_exceeded' },
  ]
}
