import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { type ApiExample, readApiExamples } from './api-examples.ts'
import { type Node, nameSchemas, PROBLEM_SCHEMA, REFUSALS, TAGS } from './openapi-components.ts'
import { RESPONSE_HEADERS } from './response-headers.ts'
import type { Scope } from './scope.ts'

/** Version of the documented operations. */
const INTERFACE_VERSION = '2.1.0'

/** The router takes no hyphen in the name of a parameter; the interface has one. */
const PARAMETER_NAMES: Readonly<Record<string, string>> = { tokenId: 'token-id', pairId: 'pair-id' }

type Operation = {
  readonly operationId?: string
  readonly parameters?: readonly { readonly in?: string; readonly name?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Node>> }
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, Node>> }>>
  readonly security?: readonly object[]
}

/** Describes the operations of the app, which are added after this, at `/openapi.json` and, to try out, at `/docs`. */
export function describeApi(app: Scope, publicUrls: readonly string[]): void {
  const examples = readApiExamples()
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Chaintape',
        version: INTERFACE_VERSION,
        description: 'On-chain market data of tokens and pairs, read from your own nodes.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as { name: string },
      },
      // Relative to the document: the gateway that serves it.
      servers: (publicUrls.length === 0 ? ['/'] : publicUrls).map((url) => ({ url })),
      tags: TAGS,
      components: { securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } } },
      security: [{ ApiKey: [] }],
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: { ...schema, 'x-cu-cost': route.config?.cu ?? 0 },
    }),
    transformObject: (document) => {
      if (!('openapiObject' in document)) return {}
      const { openapiObject } = document
      const schemas = new Map<string, Node>()
      const problem = nameSchemas(PROBLEM_SCHEMA, schemas)
      const paths = Object.entries(openapiObject.paths ?? {}).map(([path, item]) => {
        const operations = Object.entries(item ?? {}).map(([method, operation]) => {
          const { operationId = '' } = operation as Operation
          const completed = completeOperation(operation as Operation, examples.operations[operationId])
          return [method, nameSchemas(completed, schemas)]
        })
        return [publicPath(path), Object.fromEntries(operations)]
      })
      return {
        ...openapiObject,
        paths: Object.fromEntries(paths),
        components: {
          ...openapiObject.components,
          responses: refusals(problem, examples.problems),
          schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
        },
      }
    },
  })
  app.register(swaggerUi, { routePrefix: '/docs' })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}

/** Adds the parts that every operation has: failures, response headers, examples, the interface's parameter names. */
function completeOperation(operation: Operation, example: ApiExample | undefined): object {
  const { parameters, requestBody, responses } = operation
  const isKeyed = operation.security === undefined
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((parameter) => {
        const name = publicName(parameter.name ?? '')
        const value = example?.parameters?.[name]
        return { ...parameter, name, ...(value === undefined ? {} : { example: value }) }
      }),
    }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: withExample(requestBody.content, example?.body) },
    }),
    responses: {
      200: {
        ...responses?.['200'],
        description: 'Success',
        ...(isKeyed ? { headers: describedHeaders() } : {}),
        content: withExample(responses?.['200']?.content ?? PLAIN_TEXT, example?.response),
      },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, { name }]) => [
          status,
          { $ref: `#/components/responses/${name}` },
        ]),
      ),
    },
  }
}

/** For operations that declare no schema. */
const PLAIN_TEXT = { 'text/plain': { schema: { type: 'string' } } }

function withExample(content: Readonly<Record<string, Node>>, example: unknown): Record<string, Node> {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      example === undefined ? media : { ...media, example },
    ]),
  )
}

function publicPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => `{${publicName(name)}}`)
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

function refusals(problem: unknown, examples: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(REFUSALS).map(([status, { name, description }]) => {
      const example = examples[status]
      const media = { schema: problem, ...(example === undefined ? {} : { example }) }
      return [name, { description, content: { 'application/problem+json': media } }]
    }),
  )
}
