import { type Artifact, compile } from '../../../dev/market/artifacts.ts'
import type { ContractFlag } from '../../../src/domain/inspection.ts'

const SOURCE = new URL('InspectedTokens.sol', import.meta.url)

/** What an examination has to find. */
export type ExpectedFindings = {
  readonly flags?: readonly ContractFlag[]
  readonly owner?: 'deployer' | 'zero'
  /** Taxes in millionths; a word is why it does not work. */
  readonly buy?: number | string
  readonly transfer?: number | string
  readonly sell?: number | string
  /** Where a concentrated pool makes it different: it does not take less than it is owed. */
  readonly sellConcentrated?: string
  readonly sellTax?: number
}

export const INSPECTED_TOKENS: Readonly<Record<string, ExpectedFindings>> = {
  PlainToken: {},
  FeeToken: {
    owner: 'deployer',
    flags: ['setFees'],
    buy: 30_000,
    transfer: 10_000,
    sell: 70_000,
    sellConcentrated: 'the pool received too little',
    sellTax: 70_000,
  },
  BlacklistToken: {
    owner: 'deployer',
    flags: ['blacklist'],
    transfer: 'blacklisted',
    sell: 'blacklisted',
  },
  PausedToken: { owner: 'deployer', flags: ['pause'], transfer: 'paused', sell: 'paused' },
  MaxSaleToken: { owner: 'deployer', sell: 'exceeds maximum' },
  RewritingToken: { owner: 'deployer', sell: 'the pool received too little', sellTax: 1_000_000 },
  ProxyToken: {},
  MintableToken: { owner: 'deployer', flags: ['mint'] },
  RebasingToken: { owner: 'deployer' },
  RenouncedToken: { owner: 'zero' },
  Bytes32Token: {},
  HostileToken: {},
  TrapdoorToken: {
    owner: 'zero',
    flags: ['takeBackOwnership', 'hiddenOwner', 'selfdestruct', 'callsOutInTransfer'],
  },
}

export function artifact(name: string): Artifact {
  return compile(name, SOURCE)
}

/** Whether the token treats pools specially, and so needs their addresses. */
export function takesPools(name: string): boolean {
  return artifact(name).abi.some((entry) => 'name' in entry && entry.name === 'setPool')
}
