import { PermissionViolationError } from '@nats-io/transport-node'
import { ChaintapeError } from '../domain/errors.ts'

export function isForbidden(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return error instanceof PermissionViolationError || error.cause instanceof PermissionViolationError
}

/** Retrying does not add a missing permission, so it becomes `server_unauthorized`; other errors are passed on. */
export async function withPermission<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (!isForbidden(error)) throw error
    throw new ChaintapeError(
      'server_unauthorized',
      `the permissions of the NATS user in nats.* are insufficient: ${error.message}`,
    )
  }
}
