import type { Grant, KeyRing } from '../../access/keys/key-ring.ts'
import { RpcFault } from '../rpc-fault.ts'
import type { Connections } from './connections.ts'

/** Checks a key that a connection with the grant `current` sent. */
export function authorize<Session>(
  key: string,
  current: Grant | undefined,
  check: KeyRing['check'],
  connections: Connections<Session>,
): Grant {
  const checked = check(key)
  if (typeof checked === 'string') {
    const what = checked === 'unknown' ? 'is invalid' : 'has expired or was revoked'
    throw new RpcFault('unauthorized', `the API key ${what}`, { pointer: '/params/0' })
  }
  if (checked.keyId !== current?.keyId && !connections.hasRoomFor(checked)) {
    const { maxConnections } = checked.plan.sockets
    throw new RpcFault(
      'limit_exceeded',
      `the key already has ${maxConnections} connections; close one first`,
      { limit: 'connections', max: maxConnections },
    )
  }
  return checked
}
