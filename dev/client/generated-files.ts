import { PROBLEM_CODES } from '../../src/gateway/http/problem.ts'
import { CLOSE } from '../../src/gateway/ws/close-codes.ts'
import { RPC_CODES } from '../../src/gateway/ws/rpc-fault.ts'
import { decimalFields } from './decimal-fields.ts'
import {
  type AsyncApi,
  describeGateway,
  type OpenApi,
  type Operation,
  type Schema,
} from './describe-gateway.ts'
import { commentText, typeText } from './type-text.ts'

const HEAD = '// Generated from the description of the gateway: `npm run client:types`. Do not edit.\n'
/** Pushes of the WebSocket, and the types that the client exports them as. */
const MESSAGES = {
  ...{ tx: 'TxMessage', liq: 'LiqMessage', kline: 'KlineMessage', price: 'PriceMessage' },
  ...{ revert: 'RevertMessage', checkpoint: 'CheckpointMessage', switchMainPair: 'SwitchMessage' },
} as const
/** These only read: a repeated one changes nothing. */
const READING_POSTS: ReadonlySet<string> = new Set(['tokenPrices', 'tokenBatch'])

/** The generated modules of the client, by file name. */
export async function generatedFiles(): Promise<Readonly<Record<string, string>>> {
  const { openApi, asyncApi } = await describeGateway()
  return {
    'schemas.ts': schemasText(openApi),
    'operations.ts': operationsText(openApi),
    'messages.ts': messagesText(asyncApi),
    'codes.ts': codesText(),
    'decimal-fields.ts': decimalsText(openApi, asyncApi),
  }
}

function schemasText({ components }: OpenApi): string {
  const types = Object.entries(components.schemas).map(
    ([name, schema]) => `${commentText(schema.description)}export type ${name} = ${typeText(schema)}\n`,
  )
  return [HEAD, ...types].join('\n')
}

function messagesText({ components }: AsyncApi): string {
  const types = Object.entries(MESSAGES).map(([message, name]) => {
    const payload = components.messages[message]?.payload
    if (payload === undefined) throw new Error(`the gateway describes no message ${message}`)
    return `export type ${name} = ${typeText(payload)}\n`
  })
  return [HEAD, ...types].join('\n')
}

function codesText(): string {
  const union = (values: readonly unknown[]) =>
    values.map((value) => `\n  | ${JSON.stringify(value).replaceAll('"', "'")}`)
  return [
    HEAD,
    '/** Codes of refused requests: docs/errors.md explains each. */',
    `export type ErrorCode =${union(PROBLEM_CODES).join('')}\n`,
    '/** Codes of JSON-RPC errors, by name. */',
    `export const RPC_CODES = ${objectOf(RPC_CODES)} as const\n`,
    '/** Codes that the gateway closes a socket with. */',
    `export const CLOSE_CODES = ${objectOf(CLOSE)} as const\n`,
  ].join('\n')
}

function objectOf(values: Readonly<Record<string, number>>): string {
  return `{\n${Object.entries(values)
    .map(([name, value]) => `  ${name}: ${value},\n`)
    .join('')}}`
}

function decimalsText(openApi: OpenApi, asyncApi: AsyncApi): string {
  const names = decimalFields(openApi, asyncApi).map((name) => `  '${name}',\n`)
  return [
    HEAD,
    '/** Fields that hold a decimal number as text. */',
    `export const DECIMAL_FIELDS = [\n${names.join('')}] as const\n`,
  ].join('\n')
}

type Described = { readonly method: string; readonly path: string; readonly operation: Operation }

function operationsText({ paths, components }: OpenApi): string {
  const all: Described[] = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const used = Object.keys(components.schemas).filter((name) =>
    all.some(({ operation }) => new RegExp(`\\b${name}\\b`).test(responseText(operation))),
  )
  return [
    HEAD,
    `import type { Answer, RequestOptions } from '../rest/answer.ts'\nimport type { ${used.join(', ')} } from './schemas.ts'\n`,
    ...all.flatMap(inputText),
    '/** One method per operation. A path parameter comes first, then the query or the body, then the options. */',
    `export type RestMethods = {\n${all.map(methodText).join('')}}\n`,
    '/** `isRepeatable`: the operation only reads, so that it may be sent again. */',
    `export const OPERATIONS = {\n${all.map(rowText).join('')}} as const\n`,
  ].join('\n')
}

function inputName({ operation, method }: Described): string {
  const { operationId } = operation
  return `${operationId[0]?.toUpperCase()}${operationId.slice(1)}${method === 'POST' ? 'Body' : 'Query'}`
}

/** The query, or the body. */
function inputOf({ operation: { parameters = [], requestBody } }: Described): Schema | undefined {
  if (requestBody !== undefined) return requestBody.content['application/json'].schema
  const query = parameters.filter((parameter) => parameter.in === 'query')
  if (query.length === 0) return undefined
  return {
    type: 'object',
    properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
    required: query.filter(({ required }) => required).map(({ name }) => name),
  }
}

function inputText(described: Described): string[] {
  const input = inputOf(described)
  if (input === undefined) return []
  const required = input.required ?? []
  const lines = Object.entries(input.properties ?? {}).map(([name, schema]) => {
    const isFlag = schema.enum?.includes('true')
    const type = isFlag ? 'boolean' : typeText(schema)
    return required.includes(name)
      ? `  readonly ${name}: ${type}\n`
      : `  readonly ${name}?: ${type} | undefined\n`
  })
  return [`export type ${inputName(described)} = {\n${lines.join('')}}\n`]
}

function pathParameter({ operation: { parameters = [] } }: Described): string | undefined {
  const name = parameters.find((parameter) => parameter.in === 'path')?.name
  return name?.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function methodText(described: Described): string {
  const { operation } = described
  const input = inputOf(described)
  const path = pathParameter(described)
  const isOptional = input?.required?.length === 0
  const args = [
    ...(path === undefined ? [] : [`${path}: string`]),
    ...(input === undefined
      ? []
      : [
          `${described.method === 'POST' ? 'body' : 'query'}${isOptional ? '?' : ''}: ${inputName(described)}`,
        ]),
    'options?: RequestOptions',
  ]
  const comment = commentText(`${operation.summary}. ${operation['x-cu-cost']} CU.`, '  ')
  return `${comment}  ${operation.operationId}(${args.join(', ')}): Answer<${responseText(operation)}>\n`
}

function responseText({ responses }: Operation): string {
  const [media] = Object.values(responses[200].content)
  if (media === undefined) throw new Error('an operation without a response')
  return typeText(media.schema)
}

function rowText(described: Described): string {
  const { method, path, operation } = described
  const isRepeatable = method === 'GET' || READING_POSTS.has(operation.operationId)
  const fields = [
    `method: '${method}'`,
    `path: '${path}'`,
    `hasPathId: ${pathParameter(described) !== undefined}`,
    `hasInput: ${inputOf(described) !== undefined}`,
    `isRepeatable: ${isRepeatable}`,
  ]
  return `  ${operation.operationId}: { ${fields.join(', ')} },\n`
}
