import { ChaintapeError } from '../domain/errors.ts'

/** Runs a request that somebody waits for, and maps errors of unavailable NATS to `store_unavailable`. */
export async function guardNats<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof ChaintapeError || isOwnFault(error)) throw error
    throw natsUnavailable(error)
  }
}

export function natsUnavailable(cause?: unknown): ChaintapeError {
  return new ChaintapeError('store_unavailable', 'NATS unavailable', { cause })
}

function isOwnFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}
