/** What one client of the soak listens to. */
export type Subject = {
  readonly topic: 'tx' | 'multi_tx' | 'liq' | 'kline'
  /** Address of the pair or, for `multi_tx`, of the token. */
  readonly address: string
  readonly reorg: boolean
  /** Its cursor advances while nothing happens to the subject. */
  readonly checkpoint?: boolean
}

export const CHAIN = 'local'

/** Clients with the same subject must receive the same pushes. */
export function subjectKey({ topic, address, reorg }: Subject): string {
  return `${topic} ${address}${reorg ? ' reorg' : ''}`
}

export function paramsOf(
  { topic, address, reorg, checkpoint }: Subject,
  from: string | undefined,
): unknown[] {
  const flags = { ...(reorg && { reorg }), ...(checkpoint && { checkpoint }) }
  const options = { ...flags, ...(from === undefined ? { cursor: true } : { from }) }
  return [topic, address, ...(topic === 'kline' ? ['k1'] : []), CHAIN, options]
}
