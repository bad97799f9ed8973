import type { Answer, CurveInquiry, DexDeployment } from '../../protocol.ts'
import { addressAt, callData, uintAt } from '../abi.ts'

/**
 * _tokenInfos(address): base, quote, template, totalSupply, maxOffers, maxRaising, launchTime, offers, funds, lastPrice, K,
 * T, status
 */
export const TOKEN_INFOS = '0xe684626b'
export const QUOTE = 1
export const MAX_RAISING = 5
export const STATUS = 12
/** The status of a token that is still sold along its curve. */
export const TRADING = 0n

/** buyTokenAMAP(address token, uint256 funds, uint256 minAmount) */
const BUY = '0x87f27655'
/** sellToken(address token, uint256 amount) */
const SELL = '0xf464e7db'
const PARTS = 1_000n
/** The manager takes amounts in multiples of this only. */
const GWEI = 10n ** 9n

/** Purchases for less than is paid: fees come on top, and the rest is returned. */
export function* readFourMemeCurve(token: string, { factory }: DexDeployment): CurveInquiry {
  const [info]: readonly Answer[] = yield [{ to: factory, data: callData(TOKEN_INFOS, token) }]
  const goal = uintAt(info, MAX_RAISING)
  if (addressAt(info, 0) !== token || goal === undefined || uintAt(info, STATUS) !== TRADING) return undefined
  const amount = goal / PARTS
  const funds = (amount * 9n) / 10n
  return {
    platform: factory,
    amount,
    purchase: callData(BUY, token, funds - (funds % GWEI), 0),
    sale: [callData(SELL, token), '0x'],
  }
}
