import Type, { type Static, type TObject } from 'typebox'
import { BASE58_BYTES, readBase58 } from '../domain/base58.ts'
import type { ChainFamily } from '../domain/ids.ts'

const closed = { additionalProperties: false } as const
const url = Type.String({ minLength: 1 })
const evmAddress = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const evmHash = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' })
const scratch = new Uint8Array(BASE58_BYTES)
const base58 = Type.Refine(
  Type.String(),
  (text) => readBase58(text, scratch, 0),
  () => `must be base58 of ${BASE58_BYTES} bytes, in upper and lower case as published`,
)

/**
 * Which decoder reads the events of an exchange, by the family of its chain. A fork of a known exchange is a row with the
 * same name, not code.
 */
export const PROTOCOL_NAMES = {
  evm: [
    'uniswap_v2',
    'uniswap_v3',
    'uniswap_v4',
    'pancakeswap_v3',
    'pancakeswap_infinity_cl',
    'pancakeswap_infinity_bin',
    'solidly',
    'slipstream',
    'algebra',
    'curve',
    'balancer_v2',
    'balancer_v3',
    'trader_joe_lb',
    'four_meme',
    'four_meme_v1',
    'flap',
    'virtuals',
    'virtuals_launchpad',
    'clanker',
    'zora',
  ],
  solana: [
    'pump_fun',
    'pumpswap',
    'raydium_amm_v4',
    'raydium_cpmm',
    'raydium_clmm',
    'raydium_launchlab',
    'orca_whirlpool',
    'meteora_dlmm',
    'meteora_damm_v1',
    'meteora_damm_v2',
    'meteora_dbc',
    'moonshot',
  ],
} as const satisfies Record<ChainFamily, readonly string[]>

const quoteAsset = <Address extends typeof evmAddress | typeof base58>(address: Address) =>
  Type.Object(
    {
      address,
      /** A dollar, the coin that pays for gas (wrapped or not), or another coin that much is traded against. */
      kind: Type.Union([Type.Literal('stable'), Type.Literal('native'), Type.Literal('major')]),
    },
    closed,
  )

function protocolName<Family extends ChainFamily>(family: Family) {
  type Name = (typeof PROTOCOL_NAMES)[Family][number]
  return Type.Unsafe<Name>(Type.Union(PROTOCOL_NAMES[family].map((name) => Type.Literal(name))))
}

/** The coin that pays for transactions. */
const nativeCoin = (name: string, symbol: string, decimals: number) =>
  Type.Object(
    {
      name: Type.String({ default: name }),
      symbol: Type.String({ default: symbol }),
      decimals: Type.Integer({ minimum: 0, maximum: 36, default: decimals }),
      /** Whole coins in circulation; no node reports them. Left out, the coin's market cap is unknown. */
      supply: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    },
    { ...closed, default: {} },
  )

const dexRow = {
  /** The name shown to users; of a launch platform, also the first part of its tags. */
  amm: Type.String({ pattern: '^[a-z0-9_]+$', maxLength: 32 }),
  /** The row holds from and up to these blocks. */
  from_block: Type.Optional(Type.Integer({ minimum: 0 })),
  until_block: Type.Optional(Type.Integer({ minimum: 0 })),
}

const evmDex = Type.Object(
  {
    ...dexRow,
    protocol: protocolName('evm'),
    /** Creates the pools, or holds all of them. */
    factory: evmAddress,
    /** Hash of the pools' init code, if their addresses are derived from it (CREATE2). */
    init_code_hash: Type.Optional(evmHash),
    /** The contract that creates the pools, if it is not the factory itself. */
    deployer: Type.Optional(evmAddress),
    /** Uniswap V4: the contract to query for the tokens of a pool created before the first block read. */
    position_manager: Type.Optional(evmAddress),
  },
  closed,
)

const solanaDex = Type.Object(
  {
    ...dexRow,
    protocol: protocolName('solana'),
    /** The program that owns the pools. */
    factory: base58,
    /** Raydium LaunchLab: the account of a platform, whose curves have this row's name. */
    platform_config: Type.Optional(base58),
  },
  closed,
)

/** Settings of every chain. */
const common = {
  rpc_urls: Type.Array(url, { minItems: 1 }),
  /** An answer that takes longer is not waited for. */
  rpc_timeout_ms: Type.Integer({ minimum: 100, default: 10_000 }),
  /** Requests to each endpoint; what is left out has no limit. */
  rpc_budget: Type.Object(
    {
      per_second: Type.Optional(Type.Integer({ minimum: 1 })),
      per_day: Type.Optional(Type.Integer({ minimum: 1 })),
    },
    { ...closed, default: {} },
  ),
  /** First block to read when the log is still empty; of a Solana chain, its height. */
  start_block: Type.Integer({ minimum: 0, default: 0 }),
  /** Instead of it: start at the first block of this day or moment (UTC). */
  start_date: Type.Optional(Type.String()),
  poll_ms: Type.Integer({ minimum: 10, default: 1_000 }),
  /** Blocks fetched at a time while the head is far. */
  read_ahead_blocks: Type.Integer({ minimum: 1, maximum: 1_000, default: 16 }),
  /** Dollars that a pool must hold on its quote side to price the native coin or another quote asset. */
  min_depth_usd: Type.Integer({ minimum: 0, default: 1_000 }),
}

const evmChain = Type.Object(
  {
    family: Type.Literal('evm'),
    chain_id: Type.Integer({ minimum: 1 }),
    ...common,
    /** Where new heads are announced: that only makes us look sooner, so none is needed. */
    ws_urls: Type.Optional(Type.Array(url)),
    /** Whether the creation events of pools that are older than the log are scanned. */
    scan_pools: Type.Boolean({ default: true }),
    /** Blocks below the head that count as final; left out, the node's `finalized` tag decides. */
    finality_depth: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Whether a block's receipts can be checked against its header's root. */
    receipts_root: Type.Union([Type.Literal('verified'), Type.Literal('unverifiable')], {
      default: 'verified',
    }),
    native: nativeCoin('Ether', 'ETH', 18),
    /** Limits of calls to a contract; a hostile one uses all it is given. */
    calls: Type.Object(
      {
        gas: Type.Integer({ minimum: 50_000, default: 1_000_000 }),
        answer_bytes: Type.Integer({ minimum: 320, maximum: 16_384, default: 1_024 }),
      },
      { ...closed, default: {} },
    ),
    /** Highest rank first: of two quote assets in one pair, the later one is the target. */
    quote_assets: Type.Array(quoteAsset(evmAddress), { minItems: 1 }),
    /** Contracts that hold tokens and pool shares for a while and then give them back. */
    lockers: Type.Array(evmAddress, { default: [] }),
    dexes: Type.Array(evmDex, { minItems: 1 }),
  },
  closed,
)

const solanaChain = Type.Object(
  {
    family: Type.Literal('solana'),
    /** Identifies the cluster, as a chain id does. */
    genesis_hash: base58,
    ...common,
    /** Yellowstone streams of new blocks; without one, blocks are polled over JSON-RPC. */
    grpc_urls: Type.Optional(Type.Array(url)),
    /** The `x-token` of these streams. */
    grpc_token: Type.Optional(Type.String({ minLength: 1 })),
    native: nativeCoin('Solana', 'SOL', 9),
    /** Whether inspections ask the nodes for the largest holders of a token and for simulations. */
    simulate: Type.Boolean({ default: true }),
    quote_assets: Type.Array(quoteAsset(base58), { minItems: 1 }),
    /** Owners that hold tokens for a while and then give them back. */
    lockers: Type.Array(base58, { default: [] }),
    dexes: Type.Array(solanaDex, { minItems: 1 }),
  },
  closed,
)

export const CHAIN_SCHEMAS = { evm: evmChain, solana: solanaChain } as const satisfies Record<
  ChainFamily,
  TObject
>

/** Checked if the family is missing or unknown: the settings that every family has. */
export const FAMILY_SCHEMA = Type.Object({
  family: Type.Union(Object.keys(CHAIN_SCHEMAS).map((family) => Type.Literal(family))),
  ...common,
  quote_assets: Type.Array(Type.Object({}), { minItems: 1 }),
  dexes: Type.Array(Type.Object({}), { minItems: 1 }),
})

export type EvmChainSettings = Static<typeof evmChain>
export type SolanaChainSettings = Static<typeof solanaChain>

export function familyIn(chain: unknown): ChainFamily | undefined {
  const family = (chain as { readonly family?: unknown } | null | undefined)?.family
  return typeof family === 'string' && Object.hasOwn(CHAIN_SCHEMAS, family)
    ? (family as ChainFamily)
    : undefined
}

/** The schema that a chain's entry has to fit. */
export function chainSchema(chain: unknown): TObject {
  const family = familyIn(chain)
  return family === undefined ? FAMILY_SCHEMA : CHAIN_SCHEMAS[family]
}
