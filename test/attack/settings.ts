/** What the attacked gateway is told. */
export const CONNECTIONS_PER_IP = 300
export const ALLOWED_ORIGIN = 'https://terminal.example'
export const CHAIN = 'local'
export const ATTACKER_CONNECTIONS = 10

/**
 * CHAINTAPE_ATTACK=smoke: a fifth of the attackers, for a short time. Times are told and not judged then: a few
 * seconds on a machine that does other things too say nothing about the gateway.
 */
export const IS_SMOKE = process.env['CHAINTAPE_ATTACK'] === 'smoke'

/** In a short run the gateway has not yet taken what its young objects need, up to 128 MB, and does so meanwhile. */
export const MAX_GROWTH_MB = IS_SMOKE ? 64 + 128 : 64

/** Of the plan that attackers have: as usual, but few subscriptions, so that their end is reached. */
export const ATTACKER_SUBSCRIPTIONS = IS_SMOKE ? 15 : 60
