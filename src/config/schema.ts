import Type, { type Static } from 'typebox'

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const url = Type.String({ minLength: 1 })
const port = (fallback: number) => Type.Integer({ minimum: 0, maximum: 65_535, default: fallback })
const closed = { additionalProperties: false } as const
/** PEM files: the authority that signed the server's certificate, and our own certificate with its key. */
const certificates = {
  ca_file: Type.Optional(Type.String()),
  cert_file: Type.Optional(Type.String()),
  key_file: Type.Optional(Type.String()),
}

const quoteAsset = Type.Object(
  {
    address,
    /** A dollar, the coin that pays for gas (wrapped or not), or another coin that much is traded against. */
    kind: Type.Union([Type.Literal('stable'), Type.Literal('native'), Type.Literal('major')]),
  },
  closed,
)

/** Which decoder reads an exchange's events; a fork of a known exchange is a row with the same name, not code. */
export const PROTOCOL_NAMES = [
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
] as const

const hash = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' })

const dexDeployment = Type.Object(
  {
    /** The name shown to users; of a launch platform, also the first part of its tags. */
    amm: Type.String({ pattern: '^[a-z0-9_]+$', maxLength: 32 }),
    protocol: Type.Union(PROTOCOL_NAMES.map((name) => Type.Literal(name))),
    /** Creates the pools, or holds all of them. */
    factory: address,
    /** The row holds from and up to these blocks. */
    from_block: Type.Optional(Type.Integer({ minimum: 0 })),
    until_block: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Hash of the pools' init code, if their addresses are derived from it (CREATE2). */
    init_code_hash: Type.Optional(hash),
    /** The contract that creates the pools, if it is not the factory itself. */
    deployer: Type.Optional(address),
    /** Uniswap V4: the contract to query for the tokens of a pool created before the first block read. */
    position_manager: Type.Optional(address),
  },
  closed,
)

const chain = Type.Object(
  {
    family: Type.Union([Type.Literal('evm')]),
    chain_id: Type.Integer({ minimum: 1 }),
    rpc_urls: Type.Array(url, { minItems: 1 }),
    /** An answer that takes longer is not waited for. */
    rpc_timeout_ms: Type.Integer({ minimum: 100, default: 10_000 }),
    /** Where new heads are announced: that only makes us look sooner, so none is needed. */
    ws_urls: Type.Optional(Type.Array(url)),
    /** First block to read when the log is still empty. */
    start_block: Type.Integer({ minimum: 0, default: 0 }),
    /** Instead of it: start at the first block of this day or moment (UTC). */
    start_date: Type.Optional(Type.String()),
    poll_ms: Type.Integer({ minimum: 10, default: 1_000 }),
    /** Blocks fetched at a time while the head is far. */
    read_ahead_blocks: Type.Integer({ minimum: 1, maximum: 1_000, default: 16 }),
    /** Blocks below the head that count as final; left out, the node's `finalized` tag decides. */
    finality_depth: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Whether a block's receipts can be checked against its header's root. */
    receipts_root: Type.Union([Type.Literal('verified'), Type.Literal('unverifiable')], {
      default: 'verified',
    }),
    /** The coin that pays for gas. */
    native: Type.Object(
      {
        name: Type.String({ default: 'Ether' }),
        symbol: Type.String({ default: 'ETH' }),
        decimals: Type.Integer({ minimum: 0, maximum: 36, default: 18 }),
      },
      { ...closed, default: {} },
    ),
    /** Limits of calls to a contract; a hostile one uses all it is given. */
    calls: Type.Object(
      {
        gas: Type.Integer({ minimum: 50_000, default: 1_000_000 }),
        answer_bytes: Type.Integer({ minimum: 320, maximum: 16_384, default: 1_024 }),
      },
      { ...closed, default: {} },
    ),
    /** Dollars that a pool must hold on its quote side to price the native coin or another quote asset. */
    min_depth_usd: Type.Integer({ minimum: 0, default: 1_000 }),
    /** Highest rank first: of two quote assets in one pair, the later one is the target. */
    quote_assets: Type.Array(quoteAsset, { minItems: 1 }),
    /** Contracts that hold tokens and pool shares for a while and then give them back. */
    lockers: Type.Array(address, { default: [] }),
    dexes: Type.Array(dexDeployment, { minItems: 1 }),
  },
  closed,
)

const positive = (fallback: number) => Type.Integer({ minimum: 1, default: fallback })

/** The limits of keys with this plan. */
const plan = Type.Object(
  {
    /** Average over all gateways. */
    requests_per_second: positive(50),
    /** Requests that may come at once after a pause. */
    burst: positive(100),
    /** Requests for trades, liquidity and candles that a key may have under way at one gateway. */
    history_reads: positive(8),
    /** Credit units in a calendar month (UTC), over all gateways. */
    cu_per_month: Type.Integer({ minimum: 0, default: 10_000_000 }),
    sockets: Type.Object(
      {
        /** Per key and gateway. */
        connections: positive(10),
        /** Per connection. */
        subscriptions: positive(1_000),
        /** Per key and gateway, concurrently. */
        replays: positive(2),
        price_ids: positive(200),
        multi_kline_pairs: positive(100),
        messages_per_second: positive(20),
        message_bytes: Type.Integer({ minimum: 1_024, maximum: 16_777_216, default: 65_536 }),
        /** Compresses pushes for clients that offer permessage-deflate. */
        compression: Type.Boolean({ default: false }),
      },
      { ...closed, default: {} },
    ),
  },
  closed,
)

export const configSchema = Type.Object(
  {
    data_dir: Type.String({ default: './data' }),
    log_level: Type.Union(
      [
        Type.Literal('trace'),
        Type.Literal('debug'),
        Type.Literal('info'),
        Type.Literal('warn'),
        Type.Literal('error'),
      ],
      { default: 'info' },
    ),
    nats: Type.Object(
      {
        urls: Type.Array(url, { default: ['nats://127.0.0.1:4222'], minItems: 1 }),
        username: Type.Optional(Type.String()),
        password: Type.Optional(Type.String()),
        token: Type.Optional(Type.String()),
        /** A `.creds` file of a user JWT and its seed. */
        creds_file: Type.Optional(Type.String()),
        ...certificates,
        /** Prefix of stream and subject names: lets several installations share a cluster. */
        prefix: Type.String({ default: 'chaintape', pattern: '^[A-Za-z0-9_]+$' }),
        replicas: Type.Integer({ default: 1, minimum: 1, maximum: 5 }),
        /** A message above this is split; stay below the server's max_payload. */
        max_frame_bytes: Type.Integer({ default: 900_000, minimum: 1_024 }),
      },
      { ...closed, default: {} },
    ),
    clickhouse: Type.Object(
      {
        url: Type.String({ default: 'http://127.0.0.1:8123', minLength: 1 }),
        database: Type.String({ default: 'chaintape', pattern: '^[A-Za-z0-9_]+$' }),
        username: Type.String({ default: 'default' }),
        password: Type.String({ default: '' }),
        ...certificates,
        /** Several servers that keep copies: the schema is then made on all of them, with engines that replicate. */
        cluster: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_]+$' })),
        /** Older rows are dropped, month by month; a table that is not named keeps them all. */
        retention_days: Type.Object(
          {
            trades: Type.Optional(Type.Integer({ minimum: 1 })),
            liquidity: Type.Optional(Type.Integer({ minimum: 1 })),
            candles: Type.Optional(Type.Integer({ minimum: 1 })),
          },
          { ...closed, default: {} },
        ),
      },
      { ...closed, default: {} },
    ),
    redis: Type.Object(
      {
        url: Type.String({ default: 'redis://127.0.0.1:6379', minLength: 1 }),
        ...certificates,
        prefix: Type.String({ default: 'chaintape', pattern: '^[A-Za-z0-9_]+$' }),
        /** Per pair and interval, at least; older ones are read from ClickHouse. */
        recent_candles: Type.Integer({ default: 300, minimum: 1, maximum: 10_000 }),
        /** Candles of a pair that has not traded for so long are removed, and read from ClickHouse. */
        idle_candles_seconds: Type.Integer({ default: 86_400, minimum: 60 }),
      },
      { ...closed, default: {} },
    ),
    reader: Type.Object(
      {
        /** A standby reader takes over when the log does not grow for so long although the chain has a new head. */
        takeover_ms: Type.Integer({ default: 2_000, minimum: 100 }),
      },
      { ...closed, default: {} },
    ),
    engine: Type.Object(
      {
        /** An engine that stands by takes the lead when changes it has folded are not published for so long. */
        takeover_ms: Type.Integer({ default: 1_500, minimum: 100 }),
      },
      { ...closed, default: {} },
    ),
    writer: Type.Object(
      {
        /** A batch is written when it holds this many rows, or when its first message is this old. */
        max_batch_rows: Type.Integer({ default: 20_000, minimum: 1 }),
        max_batch_ms: Type.Integer({ default: 100, minimum: 1 }),
      },
      { ...closed, default: {} },
    ),
    gateway: Type.Object(
      {
        host: Type.String({ default: '127.0.0.1' }),
        port: port(8080),
        /** Credit units that a gateway takes from Redis at a time for a key; what can be overspent if Redis loses its data. */
        lease_cu: positive(1_000),
        /** While Redis is away, each key is served on credit for so long. */
        overdraft_seconds: Type.Integer({ default: 60, minimum: 0, maximum: 86_400 }),
        /** Memory for changes that the writer has not written yet, over all chains. */
        overlay_bytes: Type.Integer({ minimum: 1_048_576, default: 268_435_456 }),
        /** The equivalent hosts, as clients know them, for the description of the interface. */
        public_urls: Type.Array(Type.String({ pattern: '^https?://' }), { default: [] }),
        /** Lists of tokens, in the format of tokenlists.org: paths, or https addresses. */
        token_lists: Type.Array(Type.String({ pattern: '^(https://|(?![a-zA-Z][a-zA-Z0-9+.-]*://)).+' }), {
          default: [],
        }),
        /** Origins whose pages may read REST responses and open sockets; `*` is every origin, an empty list is none. */
        allowed_origins: Type.Array(Type.String({ pattern: '^(\\*|https?://[^/]+)$' }), { default: ['*'] }),
        /** Connections from one address (of IPv6: one /64); 0 is no limit. */
        connections_per_ip: Type.Integer({ minimum: 0, default: 500 }),
        /** Addresses of proxies: their connections are those of many clients, and are not counted. */
        proxies: Type.Array(Type.String(), { default: ['127.0.0.1', '::1'] }),
      },
      { ...closed, default: {} },
    ),
    /** Health and metrics, one port per role; never to be reachable by clients. 0 picks a free port. */
    admin: Type.Object(
      {
        host: Type.String({ default: '127.0.0.1' }),
        reader_port: port(9101),
        engine_port: port(9102),
        writer_port: port(9103),
        gateway_port: port(9104),
        /** A role that has been behind its input for longer is not ready (`/readyz`). */
        max_lag_seconds: positive(60),
      },
      { ...closed, default: {} },
    ),
    /** By the name that `chaintape keys create --plan` takes. */
    plans: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), plan, {
      default: { default: {} },
      minProperties: 1,
    }),
    chains: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), chain, { minProperties: 1 }),
  },
  closed,
)

export type Config = DeepReadonly<Static<typeof configSchema>>
export type ChainConfig = Config['chains'][string]
export type PlanConfig = Config['plans'][string]

type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T
