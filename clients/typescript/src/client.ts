import type { RestMethods } from './generated/operations.ts'
import { createRest, type RestOptions } from './rest/rest.ts'
import { createStreams, type Streams, type StreamsOptions } from './streams/streams.ts'

export type ClientOptions = RestOptions & StreamsOptions

/** REST and streams of one installation, with one key. */
export type Client = Streams & { readonly rest: RestMethods }

export function createClient(options: ClientOptions): Client {
  const rest = createRest(options)
  return Object.assign(createStreams(options, rest), { rest })
}
