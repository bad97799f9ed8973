import type { Attack } from './attack.ts'
import { CONTENT_ATTACKS } from './content-attacks.ts'
import { FRAME_ATTACKS } from './frame-attacks.ts'
import { HANDSHAKE_ATTACKS } from './handshake-attacks.ts'
import { MESSAGE_ATTACKS } from './message-attacks.ts'

export const ATTACKS: readonly Attack[] = [
  ...FRAME_ATTACKS,
  ...HANDSHAKE_ATTACKS,
  ...MESSAGE_ATTACKS,
  ...CONTENT_ATTACKS,
]
