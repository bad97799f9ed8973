import { pino } from 'pino'
import { type AppOptions, createApp } from '../../src/gateway/app.ts'
import { asyncApi } from '../../src/gateway/ws/asyncapi.ts'

export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly items?: Schema | false
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

export type Operation = {
  readonly operationId: string
  readonly summary?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query'
    readonly required?: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly responses: {
    readonly 200: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  }
  readonly 'x-cu-cost': number
}

export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export type AsyncApi = {
  readonly components: { readonly messages: Readonly<Record<string, { readonly payload: Schema }>> }
}

/** The documents that a gateway serves at `/openapi.json` and `/asyncapi.json`, without the servers it needs to run. */
export async function describeGateway(): Promise<{ openApi: OpenApi; asyncApi: AsyncApi }> {
  const logger = pino({ level: 'silent' })
  const app = createApp({
    ...absent(),
    publicUrls: [],
    allowedOrigins: ['*'],
    connectionLimit: { perAddress: 0, proxies: [] },
    metrics: { countRequests: () => () => undefined },
    logger,
  })
  await app.ready()
  const openApi = app.swagger() as unknown as OpenApi
  await app.close()
  return { openApi, asyncApi: asyncApi([]) as unknown as AsyncApi }
}

/** Parts that only requests use, and no request is made: a use while routes are described would throw. */
function absent(): AppOptions {
  return {} as AppOptions
}
