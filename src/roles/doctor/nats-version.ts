import { type Finding, note, ok, problem } from './finding.ts'

type Version = readonly [major: number, minor: number]

/** JetStream features that the logs use exist since this version. */
const OLDEST: Version = [2, 10]
/** A cluster of an older version elects leaders more slowly, and can lose acknowledged messages: docs/decisions/0121. */
const OLDEST_OF_CLUSTER: Version = [2, 15]

export function checkNatsVersion(version: string, address: string, isCluster: boolean): Finding {
  const about = 'NATS'
  if (isBefore(version, OLDEST))
    return problem(about, `version ${version} is too old`, `Install ${OLDEST.join('.')} or newer.`)
  if (isCluster && isBefore(version, OLDEST_OF_CLUSTER))
    return note(
      about,
      `version ${version} at ${address}, in a cluster`,
      `Install ${OLDEST_OF_CLUSTER.join('.')} or newer: an older cluster is slower to elect leaders and can lose acknowledged messages.`,
    )
  return ok(about, `version ${version} at ${address}`)
}

function isBefore(version: string, [major, minor]: Version): boolean {
  const [ours = 0, oursMinor = 0] = version.split('.').map(Number)
  return ours < major || (ours === major && oursMinor < minor)
}
