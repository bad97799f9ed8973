/** Settings of the attacked gateway. */
export const CONNECTIONS_PER_IP = 300
export const ALLOWED_ORIGIN = 'https://terminal.example'
export const CHAIN = 'local'
export const ATTACKER_CONNECTIONS = 10

/**
 * CHAINTAPE_ATTACK=smoke: a fifth of the attackers, for a short time. Times are then reported but not checked: a few
 * seconds on a machine that does other things too say nothing about the gateway.
 */
export const IS_SMOKE = process.env['CHAINTAPE_ATTACK'] === 'smoke'

/** CHAINTAPE_ATTACK_ROWS='tiny fragments, all at once' runs only these rows, after the calm one. */
export const ROWS = process.env['CHAINTAPE_ATTACK_ROWS']?.split(',').map((name) => name.trim())

/** Resident memory at its peak. Growth is not judged: it mostly shows when V8 last collected garbage. */
export const MAX_RESIDENT_MB = 600

/** What a p99 may become under attack, given that of the calm row of the same run: absolute limits judge the machine. */
export function maxP99Ms(calmMs: number): number {
  return 2 * calmMs + 10
}

/** Plan of the attackers: the default, but with few subscriptions, so that the limit is reached. */
export const ATTACKER_SUBSCRIPTIONS = IS_SMOKE ? 15 : 60
