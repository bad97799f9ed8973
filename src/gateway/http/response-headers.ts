/** The response headers of the interface: documented in OpenAPI, and exposed to pages of other origins. */
export const RESPONSE_HEADERS = {
  'X-CU-Cost': { type: 'integer', description: 'Credit units charged for this response; 0 if it failed' },
  'X-CU-Remaining': { type: 'integer', description: 'Credit units left this month' },
  'X-CU-Reset': { type: 'integer', description: 'Start of the next month, in Unix seconds' },
  RateLimit: { type: 'string', description: 'Requests and credit units left' },
  'RateLimit-Policy': { type: 'string', description: 'Limits of the plan' },
  'X-Block': {
    type: 'integer',
    description: 'Latest block of the chain; with several chains, of the most lagging',
  },
  'X-Block-Time': { type: 'integer', description: 'Time of that block, in Unix seconds' },
  'X-Lag-Ms': { type: 'integer', description: 'Age of that block, in milliseconds' },
} as const

/** Headers of single operations and of refusals. */
const OTHER_HEADERS = [
  ...['X-Cursor', 'X-Holders-Complete', 'X-Holders-Reason', 'X-Native-Balances', 'X-Pending-Ids'],
  'X-Unavailable-Chains',
  'Retry-After',
]

export const EXPOSED_HEADERS = [...Object.keys(RESPONSE_HEADERS), ...OTHER_HEADERS].join(', ')
