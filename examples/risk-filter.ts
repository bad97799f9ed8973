import type { Contract } from '@chaintape/client'

const MAX_RISK = 40
const MAX_TAX = 0.05
const NEEDED = ['risk_score', 'is_honeypot', 'sell_tax'] as const

/**
 * Why not to buy a token; empty if it passes. Unknown is not safe: taxes, for example, are known once a sale in a pool was
 * simulated, so that no token passes while it is on its curve.
 */
export function objections(contract: Contract): string[] {
  const { risk_score = 0, is_honeypot, sell_tax, risk_factors = [], unknown } = contract
  const missing = NEEDED.filter((field) => unknown.includes(field))
  return [
    ...(is_honeypot === 1 ? ['cannot be sold'] : []),
    ...(Number(sell_tax ?? 0) > MAX_TAX ? [`sell tax ${sell_tax}`] : []),
    ...(risk_score > MAX_RISK
      ? [`risk ${risk_score}: ${risk_factors.map(({ code }) => code).join(' ')}`]
      : []),
    ...(missing.length > 0 ? [`unknown ${missing.join(' ')}`] : []),
  ]
}
