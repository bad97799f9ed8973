/** What the attacked gateway is told. */
export const CONNECTIONS_PER_IP = 300
export const ALLOWED_ORIGIN = 'https://terminal.example'
export const CHAIN = 'local'
export const ATTACKER_CONNECTIONS = 10

/** CHAINTAPE_ATTACK=smoke: a fifth of the attackers, for a short time. */
export const IS_SMOKE = process.env['CHAINTAPE_ATTACK'] === 'smoke'

/** Of the plan that attackers have: as usual, but few subscriptions, so that their end is reached. */
export const ATTACKER_SUBSCRIPTIONS = IS_SMOKE ? 15 : 60
