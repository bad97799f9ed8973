import Type, { type Static } from 'typebox'

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const url = Type.String({ minLength: 1 })
const port = (fallback: number) => Type.Integer({ minimum: 0, maximum: 65_535, default: fallback })
const closed = { additionalProperties: false } as const

const quoteAsset = Type.Object(
  { address, kind: Type.Union([Type.Literal('stable'), Type.Literal('native')]) },
  closed,
)

const dexDeployment = Type.Object(
  {
    /** The name shown to users. */
    amm: Type.String({ pattern: '^[a-z0-9_]+$' }),
    /** Which decoder reads its events; a fork of a known exchange is a row here, not code. */
    protocol: Type.Union([Type.Literal('uniswap_v2')]),
    factory: address,
  },
  closed,
)

const chain = Type.Object(
  {
    family: Type.Union([Type.Literal('evm')]),
    chain_id: Type.Integer({ minimum: 1 }),
    rpc_urls: Type.Array(url, { minItems: 1 }),
    /** First block to read when the log is still empty. */
    start_block: Type.Integer({ minimum: 0, default: 0 }),
    poll_ms: Type.Integer({ minimum: 10, default: 1_000 }),
    /** Blocks fetched at a time while the head is far. */
    read_ahead_blocks: Type.Integer({ minimum: 1, maximum: 1_000, default: 16 }),
    /** Blocks below the head that count as final; left out, the node's `finalized` tag decides. */
    finality_depth: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Whether a block's receipts can be checked against its header's root. */
    receipts_root: Type.Union([Type.Literal('verified'), Type.Literal('unverifiable')], {
      default: 'verified',
    }),
    /** Highest rank first: of two quote assets in one pair, the later one is the target. */
    quote_assets: Type.Array(quoteAsset, { minItems: 1 }),
    dexes: Type.Array(dexDeployment, { minItems: 1 }),
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
      },
      { ...closed, default: {} },
    ),
    redis: Type.Object(
      {
        url: Type.String({ default: 'redis://127.0.0.1:6379', minLength: 1 }),
        prefix: Type.String({ default: 'chaintape', pattern: '^[A-Za-z0-9_]+$' }),
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
        /** The one key clients present; set it by environment, not in a file. */
        api_key: Type.String({ minLength: 16 }),
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
      },
      { ...closed, default: {} },
    ),
    chains: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), chain, { minProperties: 1 }),
  },
  closed,
)

export type Config = DeepReadonly<Static<typeof configSchema>>
export type ChainConfig = Config['chains'][string]

type DeepReadonly<T> = T extends (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T
