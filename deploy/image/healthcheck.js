/**
 * Health of a container: every role in it answers `/healthz` on its admin port. A refused connection is a role that does not
 * run here, so one check serves every role. It is not `/readyz`: a role that catches up for hours is healthy.
 */
const DEFAULT_PORTS = { READER: 9101, ENGINE: 9102, WRITER: 9103, GATEWAY: 9104, RECONCILER: 9105 }
const TIMEOUT_MS = 4_000

const ports = Object.entries(DEFAULT_PORTS).map(
  ([role, port]) => process.env[`CHAINTAPE_ADMIN_${role}_PORT`] ?? port,
)
const results = await Promise.all(ports.map(check))
process.exitCode = results.includes('up') && !results.includes('down') ? 0 : 1

async function check(port) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return (await fetch(`http://127.0.0.1:${port}/healthz`, { signal })).ok ? 'up' : 'down'
  } catch (error) {
    return error.cause?.code === 'ECONNREFUSED' ? 'absent' : 'down'
  }
}
