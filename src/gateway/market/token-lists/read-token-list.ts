import { createReadStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { ChaintapeError } from '../../../domain/errors.ts'

export type ReadOptions = {
  readonly signal: AbortSignal
  readonly timeoutMs?: number
  readonly maxBytes?: number
  /** A CA to trust in addition to the system's. */
  readonly ca?: string
}

/** The name of the list that is a part of this program. */
const SHIPPED = 'default'
const SHIPPED_FILE = fileURLToPath(new URL('../../../../config/token-lists/default.json', import.meta.url))

const TIMEOUT_MS = 10_000
/** The longest lists in use have a few. */
const MAX_BYTES = 16 * 1_024 * 1_024

/**
 * The text of a list: the shipped one, a file, or what an https address answers. The address is the operator's own, so it may lie anywhere;
 * but what answers there cannot send us elsewhere, keep us waiting, or fill our memory.
 */
export async function readTokenList(source: string, options: ReadOptions): Promise<string> {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)])
  try {
    const stream = isAddress(source)
      ? await ask(source, signal, options.ca)
      : createReadStream(source === SHIPPED ? SHIPPED_FILE : source, { signal })
    return await readAll(stream, maxBytes)
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof ChaintapeError) throw error
    throw new ChaintapeError('token_list_unreadable', (error as Error).message, { cause: error })
  }
}

function isAddress(source: string): boolean {
  return source.startsWith('https://')
}

/** Node's own client does not follow redirects: a redirect is a response that is not 200. */
function ask(url: string, signal: AbortSignal, ca: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'application/json' }
    get(url, { signal, headers, ...(ca === undefined ? {} : { ca }) }, (answer) => {
      if (answer.statusCode === 200) return resolve(answer)
      answer.destroy()
      reject(
        new ChaintapeError(
          'token_list_unreadable',
          `the server responded with status ${answer.statusCode}, not 200`,
        ),
      )
    }).once('error', reject)
  })
}

async function readAll(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += (chunk as Buffer).length
    if (size > maxBytes)
      throw new ChaintapeError('token_list_unreadable', `the list exceeds ${maxBytes} bytes`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
