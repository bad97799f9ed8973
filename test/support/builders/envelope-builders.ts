import { type ContractReport, RISK_CODES } from '../../../src/domain/contract-report.ts'
import type { BlockEnvelope, BlockRef, Fact, Pricing } from '../../../src/domain/envelope.ts'
import {
  findingsBy,
  type Inspection,
  PROXY_KINDS,
  TRIAL_METHODS,
  type TrialStep,
  UNTRIED_REASONS,
} from '../../../src/domain/inspection.ts'
import type { Dice } from './change-builders.ts'

const MAX_UINT256 = 2n ** 256n - 1n
const PRICINGS: readonly Pricing[] = [
  { kind: 'reserves' },
  { kind: 'sqrtPrice' },
  { kind: 'bins', binStep: 25 },
  { kind: 'bins', binStep: 300 },
  { kind: 'trades' },
]
/** Ids of two forms: hex and text, also text that begins like hex. */
const OTHER_IDS = ['an id of letters', '', '0x', '0xAB', '\u{1f680}', 'x'.repeat(200)]

type FactOf<Type extends Fact['type']> = Extract<Fact, { type: Type }>

export function buildId(dice: Dice, bytes = 20): string {
  return dice.below(8) === 0 ? dice.pick(OTHER_IDS) : dice.hex(bytes)
}

export function buildNumber(dice: Dice): number {
  return dice.pick([0, 1, 127, 128, 16_384, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, dice.below(2 ** 32)])
}

export function buildInspection(dice: Dice): Inspection {
  const step = (): TrialStep => ({
    works: dice.below(2) === 0,
    taxPpm: dice.maybe(dice.below(1_000_001)),
    gas: dice.maybe(buildNumber(dice)),
    reason: dice.maybe(dice.pick(['TRANSFER_FAILED', '', 'caf\u00e9'])),
  })
  const trial = {
    pair: dice.hex(20),
    method: dice.pick(TRIAL_METHODS),
    buy: step(),
    transfer: dice.maybe(step()),
    sell: dice.maybe(step()),
  }
  return {
    token: dice.hex(20),
    block: { number: buildNumber(dice), hash: dice.hex(32) },
    codeHash: dice.hex(32),
    creator: dice.maybe(dice.hex(20)),
    owner: dice.maybe(dice.hex(20)),
    proxy: dice.maybe({
      kind: dice.pick(PROXY_KINDS),
      implementation: dice.maybe(dice.hex(20)),
      implementationCodeHash: dice.maybe(dice.hex(32)),
      admin: dice.maybe(dice.hex(20)),
    }),
    findings: findingsBy((flag) => several(dice, 3, () => `${flag}(address,uint256)`)),
    trial: dice.below(2) === 0 ? trial : dice.pick(UNTRIED_REASONS),
  }
}

export function buildReport(dice: Dice, token = dice.hex(20)): ContractReport {
  const ppm = (): number | undefined => dice.maybe(dice.below(1_000_001))
  return {
    token,
    inspection: buildInspection(dice),
    time: 1_700_000_000 + dice.below(1_000_000),
    creator: dice.maybe(dice.hex(20)),
    holdings: {
      hasUnreliableBalances: dice.below(2) === 0,
      creatorPpm: ppm(),
      ownerPpm: ppm(),
      lockedPpm: ppm(),
      largePpm: ppm(),
      pool: dice.maybe({
        pair: dice.hex(20),
        holders: dice.below(100_000),
        issuedRaw: dice.big(MAX_UINT256),
        lockedPpm: dice.below(1_000_001),
      }),
    },
    score: {
      version: 1,
      points: dice.below(101),
      factors: several(dice, 4, () => ({
        code: dice.pick(RISK_CODES),
        points: dice.below(101),
        evidence: several(dice, 3, () => dice.hex(4)),
      })),
    },
  }
}

/** By type, so that a new kind of fact without a builder does not compile. */
const FACTS: { readonly [Type in Fact['type']]: (dice: Dice, address: string) => FactOf<Type> } = {
  pool: (dice, address) => {
    const pool: FactOf<'pool'> = {
      type: 'pool',
      address,
      factory: dice.hex(20),
      tokens: several(dice, 8, () => buildId(dice)),
      pricing: dice.pick(PRICINGS),
      reservesBefore: dice.maybe(several(dice, 8, () => dice.big(MAX_UINT256))),
    }
    return dice.below(2) === 0 ? pool : { ...pool, goalRaw: dice.big(MAX_UINT256) }
  },
  poolState: (dice, address) => ({
    type: 'poolState',
    address,
    reserves: dice.maybe(several(dice, 8, () => dice.big(MAX_UINT256))),
    price: dice.maybe(
      dice.pick([
        { kind: 'sqrt', sqrtPriceX96: dice.big(MAX_UINT256), tick: dice.below(2_000_000) - 1_000_000 },
        { kind: 'bin', id: dice.below(2 ** 24) },
        { kind: 'exchange', raw0: dice.big(MAX_UINT256), raw1: dice.big(MAX_UINT256) },
      ] as const),
    ),
  }),
  token: (dice, address) => ({
    type: 'token',
    address,
    nameRaw: Buffer.from(dice.hex(dice.below(40)).slice(2), 'hex'),
    symbolRaw: Buffer.from(dice.hex(dice.below(200)).slice(2), 'hex'),
    decimals: dice.maybe(dice.below(256)),
    supplyRaw: dice.maybe(dice.big(MAX_UINT256)),
  }),
  launch: (dice, address) => ({
    ...{ type: 'launch', address, factory: dice.hex(20), block: buildNumber(dice) },
    createdAt: dice.maybe(buildNumber(dice)),
    graduatedAt: dice.maybe(buildNumber(dice)),
  }),
  transfers: (dice, address) => ({
    type: 'transfers',
    address,
    upTo: buildNumber(dice),
    isLast: dice.below(2) === 0,
    first: dice.maybe({ time: buildNumber(dice), sender: buildId(dice) }),
    gains: several(dice, 5, () => ({ holder: dice.hex(20), amountRaw: signed(dice) })),
    issuedRaw: signed(dice),
    burnedRaw: dice.big(MAX_UINT256),
    mintedToZeroRaw: dice.big(MAX_UINT256),
  }),
  balance: (dice, address) => ({
    ...{ type: 'balance', address, holder: buildId(dice), amountRaw: dice.big(MAX_UINT256) },
  }),
  nonCirculating: (dice, address) => ({
    type: 'nonCirculating',
    address,
    balances: several(dice, 5, () => ({ holder: dice.hex(20), amountRaw: dice.big(MAX_UINT256) })),
  }),
  inspection: (dice, address) => ({ type: 'inspection', address, inspection: buildInspection(dice) }),
  inspectionFailure: (dice, address) => ({ type: 'inspectionFailure', address, block: buildNumber(dice) }),
}

export const FACT_TYPES = Object.keys(FACTS) as Fact['type'][]

export function buildFact(dice: Dice, type: Fact['type']): Fact {
  return FACTS[type](dice, buildId(dice))
}

export function buildBlockRef(dice: Dice): BlockRef {
  return { number: buildNumber(dice), hash: buildId(dice, 32) }
}

export function buildBlockEnvelope(dice: Dice, facts: readonly Fact[]): BlockEnvelope {
  const block: BlockEnvelope = {
    ...{ kind: 'block', chain: dice.pick(['eth', 'bsc', 'base']), ...buildBlockRef(dice) },
    parentHash: buildId(dice, 32),
    time: buildNumber(dice),
    transactions: several(dice, 4, () => ({
      index: buildNumber(dice),
      hash: buildId(dice, 32),
      from: buildId(dice),
      logs: several(dice, 5, () => ({
        index: buildNumber(dice),
        address: buildId(dice),
        topics: several(dice, 5, () => dice.hex(32)),
        data: Buffer.from(dice.hex(dice.below(300)).slice(2), 'hex'),
      })),
    })),
    facts,
  }
  return dice.below(2) === 0 ? block : { ...block, isOld: true }
}

function signed(dice: Dice): bigint {
  const size = dice.big(MAX_UINT256)
  return dice.below(2) === 0 ? size : -size
}

function several<T>(dice: Dice, limit: number, build: () => T): T[] {
  return Array.from({ length: dice.below(limit) }, build)
}
