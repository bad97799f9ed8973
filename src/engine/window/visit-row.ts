import { layout, u32 } from '../../state/layout.ts'

/**
 * By subject and wallet: the minutes in which it last bought and sold; not kept once that is a day ago. No trade is from
 * the first minute of 1970, so 0 is never.
 */
export const VISIT = layout({ boughtAt: u32, soldAt: u32 })
