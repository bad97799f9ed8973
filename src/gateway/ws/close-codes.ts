/** The codes this server closes a socket with. */
export const CLOSE = {
  goingAway: 1001,
  tooLarge: 1009,
  failed: 1011,
  unauthorized: 4401,
  keyEnded: 4403,
  slowReader: 4408,
  tooMany: 4429,
} as const

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE]
