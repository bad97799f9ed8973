import type { TokenEvent } from '../../dex/events.ts'
import type { TokenPlatform } from '../../domain/change.ts'
import { WHOLE_PPM } from './platform.ts'

type Launched = { platform: TokenPlatform | undefined; updatedAt: number }

type Tokens<Token extends Launched> = {
  tokenIfKnown(address: string): Token | undefined
  editToken(token: Token): void
}

/** Updates the launch of every token in an event that its platform emits outside of pools. */
export function foldTokenLaunch<Token extends Launched>(
  event: TokenEvent,
  name: string,
  time: number,
  tokens: Tokens<Token>,
): void {
  if (event.type === 'curveDrained') return
  graduate(event.token, event.type === 'tokenLaunched' ? time : undefined)
  if (event.type === 'tokenGraduated' && event.successor !== undefined) graduate(event.successor, time)

  function graduate(address: string, createdAt: number | undefined): void {
    const token = tokens.tokenIfKnown(address)
    const after = token && graduated(token.platform, name, createdAt, time)
    if (token === undefined || after === undefined) return
    tokens.editToken(token)
    token.platform = after
    token.updatedAt = time
  }
}

/** Undefined if the token has launched before, because it launches once. A token without a curve graduates at once. */
function graduated(
  known: TokenPlatform | undefined,
  name: string,
  createdAt: number | undefined,
  time: number,
): TokenPlatform | undefined {
  if (known !== undefined && (known.name !== name || known.graduatedAt !== undefined)) return undefined
  return { name, createdAt: createdAt ?? known?.createdAt, progressPpm: WHOLE_PPM, graduatedAt: time }
}
