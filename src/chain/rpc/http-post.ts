import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { RpcFailure } from './rpc-failure.ts'

/**
 * Posts to a node and returns the response once it begins. `fetch` would take 50 % more CPU time, and follow redirects,
 * which would send the key to their target.
 */
export function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestSecure : requestPlain
    const length = String(Buffer.byteLength(body))
    const sent = { ...headers, 'accept-encoding': 'gzip', 'content-length': length }
    const request = send(url, { method: 'POST', headers: sent, signal })
    let isAnswered = false
    request.on('response', (response) => {
      isAnswered = true
      resolve(response)
    })
    request.on('error', (error) => {
      // An idle connection may be closed just when it is reused: not the node's fault.
      const isStale = request.reusedSocket && !isAnswered && !signal.aborted
      if (isStale) resolve(post(url, headers, body, signal))
      else reject(error)
    })
    request.end(body)
  })
}

/** The whole answer, unpacked; one that is longer than this is cut off. */
export function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const isPacked = response.headers['content-encoding'] === 'gzip'
    const body = isPacked ? pipeline(response, createGunzip(), () => undefined) : response
    const chunks: Buffer[] = []
    let size = 0
    body.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBytes) return
      reject(new RpcFailure('too_large', `the answer is longer than ${maxBytes} bytes`))
      body.destroy()
    })
    body.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    body.on('error', reject)
  })
}
