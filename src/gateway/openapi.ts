import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { RESPONSE_HEADERS } from './response-headers.ts'
import type { Scope } from './scope.ts'

/** Of the documented operations. */
const INTERFACE_VERSION = '2.1.0'

const REFUSALS = {
  400: 'The request is malformed, names something unknown, or exceeds a limit',
  401: 'The API key is missing or invalid',
  403: 'The API key is expired or revoked',
  429: 'The rate or the credit units of the key are used up: Retry-After says when to come back',
  500: 'The server failed',
} as const

/** The router takes no hyphen in the name of a parameter; the interface has one. */
const PARAMETER_NAMES: Readonly<Record<string, string>> = { tokenId: 'token-id', pairId: 'pair-id' }

type Operation = {
  parameters?: { in?: string; name?: string }[]
  responses?: Record<string, object>
  security?: object[]
}

/** Describes the operations of the app, which are added after this, at `/openapi.json` and, to try out, at `/docs`. */
export function describeApi(app: Scope, publicUrls: readonly string[]): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Chaintape',
        version: INTERFACE_VERSION,
        description: 'Market data of tokens and pairs, read from the chains by your own nodes.',
      },
      servers: publicUrls.map((url) => ({ url })),
      components: {
        securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
        schemas: {
          Problem: {
            type: 'object',
            required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
            properties: {
              type: { type: 'string', format: 'uri' },
              title: { type: 'string' },
              status: { type: 'integer' },
              detail: { type: 'string' },
              instance: { type: 'string', description: 'The id of the request' },
              code: { type: 'string', description: 'Stable: see docs/errors.md' },
              errors: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['pointer', 'detail'],
                  properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
                },
              },
            },
          },
        },
      },
      security: [{ ApiKey: [] }],
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: { ...schema, 'x-cu-cost': route.config?.cu ?? 0 },
    }),
    transformObject: (document) => {
      if (!('openapiObject' in document)) return {}
      const { openapiObject } = document
      const paths = Object.entries(openapiObject.paths ?? {}).map(([path, item]) => {
        for (const operation of [item?.get, item?.post]) {
          if (operation !== undefined) completeOperation(operation as Operation)
        }
        return [path.replace(/\{(\w+)\}/g, (_, name: string) => `{${publicName(name)}}`), item] as const
      })
      return { ...openapiObject, paths: Object.fromEntries(paths) }
    },
  })
  app.register(swaggerUi, { routePrefix: '/docs' })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}

/** Adds what every operation has: how it may refuse, what its headers say, the interface's names. */
function completeOperation(operation: Operation): void {
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === 'path') parameter.name = publicName(parameter.name ?? '')
  }
  const isKeyed = operation.security === undefined
  const headers = isKeyed ? { headers: describedHeaders() } : {}
  operation.responses = {
    200: { ...operation.responses?.['200'], description: 'Success', ...headers },
    ...refusals(),
  }
}

function publicName(name: string): string {
  return PARAMETER_NAMES[name] ?? name
}

function describedHeaders() {
  return Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).map(([name, { type, description }]) => [
      name,
      { description, schema: { type } },
    ]),
  )
}

/** What every operation may answer instead. */
function refusals() {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return Object.fromEntries(
    Object.entries(REFUSALS).map(([status, description]) => [status, { description, content }]),
  )
}
