import { createClient, isApiError } from '@chaintape/client'
import { createSignal } from 'solid-js'

/** Where the data comes from: all of it through this client. */
export const client = createClient({
  url: metaOf('chaintape-url') || new URL('.', location.href).href.replace(/\/$/, ''),
  key: metaOf('chaintape-key'),
  onReconnect: () => setConnection('lost'),
})

const [connection, setConnection] = createSignal<'idle' | 'live' | 'lost'>('idle')

/** Whether streams run: `idle` until one of them has brought something. */
export { connection }

/** Items of a stream, noting that they arrive. */
export async function* noted<T>(stream: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const item of stream) {
    setConnection('live')
    yield item
  }
}

/** True if the page's key is no longer good: only a reload helps. */
export function isKeyEnded(error: unknown): boolean {
  return isApiError(error, 'unauthorized', 'forbidden')
}

function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''
}
