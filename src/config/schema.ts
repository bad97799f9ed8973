import Type, { type Static } from 'typebox'
import type { EvmChainSettings, SolanaChainSettings } from './chain-schema.ts'

const url = Type.String({ minLength: 1 })
const port = (fallback: number) => Type.Integer({ minimum: 0, maximum: 65_535, default: fallback })
const closed = { additionalProperties: false } as const
/** PEM files: the authority that signed the server's certificate, and our own certificate with its key. */
const certificates = {
  ca_file: Type.Optional(Type.String()),
  cert_file: Type.Optional(Type.String()),
  key_file: Type.Optional(Type.String()),
}

/** Limits of a log; 0 is no limit. What is not stored elsewhere yet stays beyond them. */
const logLimits = (days: number) =>
  Type.Object(
    {
      max_age_seconds: Type.Integer({ minimum: 0, default: days * 86_400 }),
      max_bytes: Type.Integer({ minimum: 0, default: 107_374_182_400 }),
    },
    { ...closed, default: {} },
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
    /** What the logs of each chain keep. */
    logs: Type.Object(
      {
        /** Older blocks are in the archive, in ClickHouse. */
        blocks: logLimits(14),
        /** How far back a client's cursor resumes from the log; older events come from ClickHouse. */
        changes: logLimits(7),
      },
      { ...closed, default: {} },
    ),
    /** Copies of the engines' states and the readers' indexes, from which others start. */
    snapshots: Type.Object(
      {
        /** May be shared or synchronized between machines; by default `<data_dir>/snapshots`. */
        dir: Type.Optional(Type.String({ minLength: 1 })),
        /** 0 takes none. */
        every_seconds: Type.Integer({ minimum: 0, default: 3_600 }),
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
    refold: Type.Object(
      {
        /** How long the former data of a chain stays after a refold. */
        grace_seconds: Type.Integer({ default: 600, minimum: 0, maximum: 2_000_000 }),
      },
      { ...closed, default: {} },
    ),
    reconciler: Type.Object(
      {
        /** How often a stretch of each chain is compared; 0 is never. */
        every_seconds: Type.Integer({ default: 3_600, minimum: 0, maximum: 2_000_000 }),
        /** Random archived blocks that are then read from a node again. */
        node_blocks: Type.Integer({ default: 20, minimum: 0, maximum: 10_000 }),
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
        /** Unknown tokens and pairs that the reader looks up for a key, in a minute; 0 looks up none. */
        look_ups_per_minute: Type.Integer({ minimum: 0, maximum: 100_000, default: 120 }),
        /** Memory for changes that the writer has not written yet, over all chains. */
        overlay_bytes: Type.Integer({ minimum: 1_048_576, default: 268_435_456 }),
        /** The equivalent hosts, as clients know them, for the description of the interface. */
        public_urls: Type.Array(Type.String({ pattern: '^https?://' }), { default: [] }),
        /** Lists of tokens, in the format of tokenlists.org: paths, https addresses, or `default`, the shipped list. */
        token_lists: Type.Array(Type.String({ pattern: '^(https://|(?![a-zA-Z][a-zA-Z0-9+.-]*://)).+' }), {
          default: ['default'],
        }),
        /** Origins whose pages may read REST responses and open sockets; `*` is every origin, an empty list is none. */
        allowed_origins: Type.Array(Type.String({ pattern: '^(\\*|https?://[^/]+)$' }), { default: ['*'] }),
        /** The web terminal at `/`. */
        terminal: Type.Optional(
          Type.Object(
            {
              /** Public: every visitor can read it. */
              api_key: Type.String({ pattern: '^ctk_[0-9A-Za-z]{36}$' }),
            },
            closed,
          ),
        ),
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
        reconciler_port: port(9105),
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
    /** Each is checked by the schema of its family (`chainSchema`), so that an error names the setting. */
    chains: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), Type.Object({}), {
      minProperties: 1,
    }),
  },
  closed,
)

export type EvmChainConfig = DeepReadonly<EvmChainSettings>
export type SolanaChainConfig = DeepReadonly<SolanaChainSettings>
export type ChainConfig = EvmChainConfig | SolanaChainConfig
export type Config = DeepReadonly<Omit<Static<typeof configSchema>, 'chains'>> & {
  readonly chains: { readonly [name: string]: ChainConfig }
}
export type PlanConfig = Config['plans'][string]

type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T
