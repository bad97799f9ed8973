import { BlockList, isIPv4, isIPv6, type Socket } from 'node:net'
import { RequestError } from './problem.ts'
import { writeRawProblem } from './raw-problem.ts'

export type ConnectionLimit = {
  /** 0: as many as come. */
  readonly perAddress: number
  /** Not counted: behind each are many clients. */
  readonly proxies: readonly string[]
}

/** Limits the connections of one address, so that no client can exhaust the connections of all. Returns false if it refused one. */
export function connectionLimit({ perAddress, proxies }: ConnectionLimit): (socket: Socket) => boolean {
  if (perAddress === 0) return () => true
  const exempt = new Set(proxies.map(connectionSource))
  const open = new Map<string, number>()
  const refusal = new RequestError(
    'limit_exceeded',
    `at most ${perAddress} connections per address; close one first`,
  )
  return (socket) => {
    const source = connectionSource(socket.remoteAddress ?? '')
    if (exempt.has(source)) return true
    const count = open.get(source) ?? 0
    if (count >= perAddress) {
      // Not counted: a client that retries in a loop would otherwise never be admitted once there is room.
      writeRawProblem(socket, refusal)
      return false
    }
    open.set(source, count + 1)
    socket.once('close', () => {
      const left = (open.get(source) ?? 0) - 1
      if (left > 0) open.set(source, left)
      else open.delete(source)
    })
    return true
  }
}

const mapped = new BlockList()
mapped.addSubnet('::ffff:0:0', 96, 'ipv6')

/** A client with one IPv6 address has the 2^64 that share its first four groups. */
export function connectionSource(address: string): string {
  if (!isIPv6(address)) return address
  const tail = address.slice(address.lastIndexOf(':') + 1)
  if (isIPv4(tail) && mapped.check(address, 'ipv6')) return tail
  const [before = '', after] = address.split('%', 1)[0]?.split('::', 2) ?? []
  const first = before === '' ? [] : before.split(':')
  const last = after === undefined || after === '' ? [] : after.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0')
  const groups = after === undefined ? first : [...first, ...zeros, ...last]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
