import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { SliceOutcome } from '../measure.ts'
import type { MeasuredProcess } from './measured-process.ts'

export type Request = {
  readonly port: number
  readonly text: string
  /** Every answer must have this body, byte for byte. */
  readonly body: Buffer
}

export type Load = {
  slice(durationMs: number): Promise<SliceOutcome>
  close(): void
}

const HEAD_END = '\r\n\r\n'

/** Connections that are kept, each with one request under way, as clients do that do not pipeline. */
export async function openLoad(
  server: MeasuredProcess,
  request: Request,
  connections: number,
): Promise<Load> {
  const callers = await Promise.all(Array.from({ length: connections }, () => openCaller(request)))
  return {
    slice: async (durationMs) => {
      const before = await server.cpuSeconds()
      const end = performance.now() + durationMs
      const outcomes = await Promise.all(callers.map((caller) => caller.callUntil(end)))
      const cpuSeconds = (await server.cpuSeconds()) - before
      const units = outcomes.reduce((sum, { answers }) => sum + answers, 0)
      const wrong = outcomes.find((outcome) => outcome.wrong !== undefined)?.wrong
      return { units, cpuSeconds, ...(wrong !== undefined && { wrong }) }
    },
    close: () => {
      for (const caller of callers) caller.close()
    },
  }
}

type Called = { readonly answers: number; readonly wrong: string | undefined }

async function openCaller({ port, text, body }: Request) {
  const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  const request = Buffer.from(text)
  let received: Buffer[] = []
  let bytes = 0
  let onAnswer: (answer: Buffer) => void = () => undefined
  let bodyStart: number | undefined
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk)
    bytes += chunk.length
    if (bodyStart === undefined) {
      const at = Buffer.concat(received).indexOf(HEAD_END)
      if (at < 0) return
      bodyStart = at + HEAD_END.length
    }
    if (bytes < bodyStart + body.length) return
    const answer = Buffer.concat(received)
    const start = bodyStart
    ;[received, bytes, bodyStart] = [[], 0, undefined]
    onAnswer(
      answer.subarray(0, start).toString('latin1').startsWith('HTTP/1.1 200 ')
        ? answer.subarray(start)
        : answer,
    )
  })
  return {
    callUntil: (end: number): Promise<Called> =>
      new Promise((resolve) => {
        let answers = 0
        const finish = (wrong?: string): void => {
          socket.off('close', onClose)
          resolve({ answers, wrong })
        }
        const onClose = (): void => finish('the server closed the connection')
        socket.once('close', onClose)
        onAnswer = (answer) => {
          if (!answer.equals(body)) return finish(`answered ${answer.toString().slice(0, 300)}`)
          answers++
          if (performance.now() < end) socket.write(request)
          else finish()
        }
        socket.write(request)
      }),
    close: () => void socket.destroy(),
  }
}
