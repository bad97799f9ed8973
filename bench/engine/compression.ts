import { constants, zstdCompressSync } from 'node:zlib'
import { FIRST_LINK, MessageAssembler, splitMessage } from '../../src/wire/frame.ts'
import { processClock } from '../measure.ts'
import type { ChangesMessage } from './measured-fold.ts'

/** zstd's own default, to compare with. */
const LEVEL_3 = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

/** Bytes per swap of these messages and the CPU time per swap to compress them, as the log does it and at level 3. */
export function compressionReport(messages: readonly ChangesMessage[]): string {
  const bodies = messages.map(({ bytes }) => bytes)
  const swaps = messages.reduce((sum, message) => sum + message.swaps, 0)
  const framed = timed(() => bodies.map((body) => frameOf(body)))
  const read = timed(() => framed.made.map((frame) => new MessageAssembler().push(frame)))
  const level3 = timed(() => bodies.map((body) => zstdCompressSync(body, LEVEL_3)))
  const size = (all: readonly Uint8Array[]) =>
    Math.round(all.reduce((sum, { length }) => sum + length, 0) / swaps)
  const micros = (seconds: number) => `${((seconds / swaps) * 1e6).toFixed(1)} µs`
  return (
    `CHANGES per swap: ${size(bodies)} bytes, ${size(framed.made)} in the log ` +
    `(compressed in ${micros(framed.seconds)}, read in ${micros(read.seconds)}), ` +
    `${size(level3.made)} at level 3 (${micros(level3.seconds)})`
  )
}

function frameOf(message: Uint8Array): Uint8Array {
  return splitMessage(message, FIRST_LINK, Number.MAX_SAFE_INTEGER)[0] as Uint8Array
}

function timed<T>(work: () => T): { made: T; seconds: number } {
  const start = processClock.cpuSeconds()
  const made = work()
  return { made, seconds: processClock.cpuSeconds() - start }
}
