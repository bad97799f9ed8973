import type { CurveMarket } from '../../protocol.ts'
import { callData } from '../abi.ts'

/** swapExactInput((address inputToken, address outputToken, uint256 inputAmount, uint256 minOutputAmount, bytes permitData)) */
const SWAP_EXACT_INPUT = '0xef7ec2e7'
const WORD = 32
const FIELDS = 5
const PARTS = 1_000n
/** Prices have 18 digits. */
const ONE = 10n ** 18n
const MAX_UINT256 = (1n << 256n) - 1n

/** `price` and the supply at which the token leaves the curve give the scale of its trades. */
export function flapMarket(
  portal: string,
  token: string,
  curve: { readonly quote: string; readonly price: bigint; readonly threshold: bigint },
): CurveMarket | undefined {
  const amount = (curve.price * curve.threshold) / ONE / PARTS
  if (amount > MAX_UINT256) return undefined
  const head = (from: string, to: string): string => callData(SWAP_EXACT_INPUT, WORD, from, to)
  const tail = callData('0x', 0, FIELDS * WORD, 0)
  const purchase = `${head(curve.quote, token)}${callData('0x', amount).slice(2)}${tail.slice(2)}`
  return { platform: portal, amount, purchase, sale: [head(token, curve.quote), tail] }
}
