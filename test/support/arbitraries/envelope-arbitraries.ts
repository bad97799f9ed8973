import fc from 'fast-check'
import {
  type ChainSettings,
  type DexDeployment,
  NATIVE_SUPPLY_RULES,
  type NativeSupply,
  QUOTE_KINDS,
  type QuoteAsset,
  sortedLockers,
} from '../../../src/domain/chain-settings.ts'
import type { BlockRef, Envelope, Fact, RawLog, RawTransaction } from '../../../src/domain/envelope.ts'
import type { WalletBalances, WalletToken } from '../../../src/domain/wallet-balances.ts'
import { inspection } from './contract-arbitraries.ts'
import {
  address,
  anyId,
  bytes,
  chainName,
  decimals,
  evmHash,
  hash,
  known,
  plain,
  short,
  signed,
  uint,
  uint256,
} from './value-arbitraries.ts'

export const blockRef: fc.Arbitrary<BlockRef> = plain<BlockRef>({ number: uint, hash })

export const rawLog: fc.Arbitrary<RawLog> = plain<RawLog>({
  index: uint,
  address,
  topics: short(evmHash),
  data: bytes,
})

const wallet = plain<WalletBalances>({
  nativeRaw: known(uint256),
  tokens: short(plain<WalletToken>({ token: anyId, amountRaw: uint256, accounts: fc.nat(255) })),
})

export const rawTransaction: fc.Arbitrary<RawTransaction> = fc
  .tuple(
    plain<Omit<RawTransaction, 'wallet'>>({ index: uint, hash, from: anyId, logs: short(rawLog) }),
    fc.option(wallet),
  )
  .map(([transaction, held]) => (held === null ? transaction : { ...transaction, wallet: held }))

export const fact: fc.Arbitrary<Fact> = fc.oneof(
  plain<Extract<Fact, { type: 'pool' }>>({
    type: fc.constant('pool'),
    address,
    factory: address,
    tokens: fc.array(anyId, { maxLength: 8 }),
    pricing: fc.oneof(
      plain<{ kind: 'reserves' }>({ kind: fc.constant('reserves') }),
      plain<{ kind: 'sqrtPrice' }>({ kind: fc.constant('sqrtPrice') }),
      plain<{ kind: 'trades' }>({ kind: fc.constant('trades') }),
      plain<{ kind: 'bins'; binStep: number }>({ kind: fc.constant('bins'), binStep: fc.nat(65_535) }),
    ),
    reservesBefore: known(fc.array(uint256, { maxLength: 8 })),
  }).chain((pool) => fc.option(uint256).map((goalRaw) => (goalRaw === null ? pool : { ...pool, goalRaw }))),
  plain<Extract<Fact, { type: 'token' }>>({
    type: fc.constant('token'),
    address,
    nameRaw: fc.uint8Array({ maxLength: 100 }),
    symbolRaw: fc.uint8Array({ maxLength: 100 }),
    decimals: known(decimals),
    supplyRaw: known(uint256),
  }),
  plain<Extract<Fact, { type: 'transfers' }>>({
    type: fc.constant('transfers'),
    address,
    upTo: uint,
    isLast: fc.boolean(),
    first: known(plain<{ time: number; sender: string }>({ time: uint, sender: address })),
    gains: short(plain<{ holder: string; amountRaw: bigint }>({ holder: address, amountRaw: signed })),
    issuedRaw: signed,
    burnedRaw: uint256,
    mintedToZeroRaw: uint256,
  }),
  plain<Extract<Fact, { type: 'launch' }>>({
    type: fc.constant('launch'),
    address,
    factory: address,
    block: uint,
    createdAt: known(uint),
    graduatedAt: known(uint),
  }),
  plain<Extract<Fact, { type: 'inspection' }>>({ type: fc.constant('inspection'), address, inspection }),
  plain<Extract<Fact, { type: 'inspectionFailure' }>>({
    type: fc.constant('inspectionFailure'),
    address,
    block: uint,
  }),
  plain<Extract<Fact, { type: 'nonCirculating' }>>({
    type: fc.constant('nonCirculating'),
    address,
    balances: short(plain<{ holder: string; amountRaw: bigint }>({ holder: address, amountRaw: uint256 })),
  }),
  plain<Extract<Fact, { type: 'balance' }>>({
    type: fc.constant('balance'),
    address,
    holder: address,
    amountRaw: uint256,
  }),
)

export const chainSettings: fc.Arbitrary<ChainSettings> = plain<ChainSettings>({
  rules: fc.oneof(fc.nat(3), uint),
  dexes: short(
    plain<DexDeployment>({
      amm: fc.string(),
      protocol: fc.string(),
      factory: anyId,
      fromBlock: known(uint),
      untilBlock: known(uint),
      initCodeHash: known(evmHash),
      deployer: known(address),
      positionManager: known(address),
    }),
  ),
  quoteAssets: short(plain<QuoteAsset>({ address: anyId, kind: fc.constantFrom(...QUOTE_KINDS) })),
  minDepthUsd: uint256,
  lockers: short(anyId).map(sortedLockers),
}).chain((settings) =>
  settings.rules < NATIVE_SUPPLY_RULES
    ? fc.constant(settings)
    : known(plain<NativeSupply>({ address: anyId, supplyRaw: known(uint256) })).map((native) =>
        native === undefined ? settings : { ...settings, native },
      ),
)

export const envelope: fc.Arbitrary<Envelope> = fc.oneof(
  {
    weight: 4,
    arbitrary: plain<Extract<Envelope, { kind: 'block' }>>({
      kind: fc.constant('block'),
      chain: chainName,
      number: uint,
      hash,
      parentHash: hash,
      time: uint,
      transactions: short(rawTransaction),
      facts: short(fact),
    }).chain((block) => fc.boolean().map((isOld) => (isOld ? { ...block, isOld } : block))),
  },
  plain<Extract<Envelope, { kind: 'undo' }>>({
    kind: fc.constant('undo'),
    chain: chainName,
    lastValid: blockRef,
  }),
  plain<Extract<Envelope, { kind: 'final' }>>({
    kind: fc.constant('final'),
    chain: chainName,
    upTo: blockRef,
  }),
  plain<Extract<Envelope, { kind: 'settings' }>>({
    kind: fc.constant('settings'),
    chain: chainName,
    settings: chainSettings,
  }),
)
