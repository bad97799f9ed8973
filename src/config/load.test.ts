import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { ChaintapeError } from '../domain/errors.ts'
import { exampleLine } from './example-lines.ts'
import { loadConfig } from './load.ts'
import { configSchema } from './schema.ts'

type Tree = { [key: string]: unknown }

const folder = mkdtempSync(path.join(tmpdir(), 'chaintape-config-'))
const file = path.join(folder, 'chaintape.yaml')
after(() => rmSync(folder, { recursive: true }))

const mixedCase = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01'

const chain = {
  family: 'evm',
  chain_id: 31_337,
  rpc_urls: ['http://127.0.0.1:8545'],
  quote_assets: [{ address: mixedCase, kind: 'stable' }],
  dexes: [{ amm: 'uniswap', protocol: 'uniswap_v2', factory: mixedCase }],
}
const minimal = { gateway: { port: 8080 }, chains: { unshipped: chain } }

const defaultPlan = {
  requests_per_second: 50,
  burst: 100,
  history_reads: 8,
  cu_per_month: 10_000_000,
  sockets: {
    connections: 10,
    subscriptions: 1_000,
    replays: 2,
    price_ids: 200,
    multi_kline_pairs: 100,
    messages_per_second: 20,
    message_bytes: 65_536,
    compression: false,
  },
}

// JSON is YAML: a tree is as good as a text, and easier to vary.
function load(content: Tree | string, env: NodeJS.ProcessEnv = {}) {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return loadConfig(file, env)
}

/** Problems, and below them lines to write instead. */
function refusal(work: () => unknown): { problems: string[]; examples: string[] } {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof ChaintapeError && error.code === 'config_invalid', String(error))
    const [problems = '', examples = ''] = error.message.split('\n\nwrite, for example:\n  ')
    return { problems: problems.split('\n  '), examples: examples === '' ? [] : examples.split('\n  ') }
  }
  throw new assert.AssertionError({ message: 'the configuration is accepted' })
}

function assertRefused(
  content: Tree | string,
  problems: readonly string[],
  env: NodeJS.ProcessEnv = {},
): void {
  const { problems: found } = refusal(() => load(content, env))
  assert.deepEqual(found, [`configuration from ${file} and the environment:`, ...problems])
}

function withChain(own: Tree): Tree {
  return { ...minimal, chains: { unshipped: { ...chain, ...own } } }
}

test('what is not said has its default', () => {
  assert.deepEqual(load(minimal), {
    data_dir: './data',
    log_level: 'info',
    nats: { urls: ['nats://127.0.0.1:4222'], prefix: 'chaintape', replicas: 1, max_frame_bytes: 900_000 },
    clickhouse: {
      ...{ url: 'http://127.0.0.1:8123', database: 'chaintape', username: 'default', password: '' },
      retention_days: {},
    },
    redis: {
      url: 'redis://127.0.0.1:6379',
      prefix: 'chaintape',
      recent_candles: 300,
      idle_candles_seconds: 86_400,
    },
    reader: { takeover_ms: 2_000 },
    engine: { takeover_ms: 1_500 },
    writer: { max_batch_rows: 20_000, max_batch_ms: 100 },
    gateway: {
      ...{ host: '127.0.0.1', port: 8080, public_urls: [], token_lists: [], lease_cu: 1_000 },
      overlay_bytes: 268_435_456,
      ...{ allowed_origins: ['*'], connections_per_ip: 500, proxies: ['127.0.0.1', '::1'] },
    },
    plans: { default: defaultPlan },
    admin: {
      host: '127.0.0.1',
      reader_port: 9101,
      engine_port: 9102,
      writer_port: 9103,
      gateway_port: 9104,
      max_lag_seconds: 60,
    },
    chains: {
      unshipped: {
        ...chain,
        rpc_timeout_ms: 10_000,
        start_block: 0,
        poll_ms: 1_000,
        read_ahead_blocks: 16,
        receipts_root: 'verified',
        native: { name: 'Ether', symbol: 'ETH', decimals: 18 },
        calls: { gas: 1_000_000, answer_bytes: 1_024 },
        min_depth_usd: 1_000,
        lockers: [],
        quote_assets: [{ address: mixedCase.toLowerCase(), kind: 'stable' }],
        dexes: [{ amm: 'uniswap', protocol: 'uniswap_v2', factory: mixedCase.toLowerCase() }],
      },
    },
  })
})

test('what is said stands, in YAML', () => {
  const config = load(`
log_level: warn
nats: { urls: [nats://a, nats://b], replicas: 3 }
gateway: { port: 0 }
chains:
  unshipped: ${JSON.stringify({ ...chain, start_block: 7, finality_depth: 2 })}
  other_2: ${JSON.stringify(chain)}
`)
  assert.equal(config.log_level, 'warn')
  assert.deepEqual(config.nats.urls, ['nats://a', 'nats://b'])
  assert.equal(config.nats.replicas, 3)
  assert.equal(config.nats.prefix, 'chaintape')
  assert.equal(config.gateway.port, 0)
  assert.equal(config.chains['unshipped']?.start_block, 7)
  assert.equal(config.chains['unshipped']?.finality_depth, 2)
  assert.equal(config.chains['other_2']?.finality_depth, undefined)
})

test('a token list is a file, or lies at an https address', () => {
  const listsOf = (token_lists: string[]) =>
    load({ ...minimal, gateway: { token_lists } }).gateway.token_lists
  for (const list of ['https://lists.example/all.json', './lists/own.json', '/etc/list.json', 'list.json'])
    assert.deepEqual(listsOf([list]), [list])
  for (const list of ['http://lists.example/all.json', 'ftp://lists.example', 'file:///etc/passwd', ''])
    assert.throws(() => listsOf([list]), { code: 'config_invalid' }, list)
})

test('a chain may start at a date instead of a block', () => {
  const startOf = (own: Tree) => load(withChain(own)).chains['unshipped']?.start_date
  for (const start_date of ['2025-06-15', '2025-06-15T23:55Z', '2024-02-29T00:00:00Z']) {
    assert.equal(startOf({ start_date }), start_date)
  }
  const variables = { CHAINTAPE_CHAINS_UNSHIPPED_START_DATE: '2025-06-15' }
  assert.equal(load(minimal, variables).chains['unshipped']?.start_date, '2025-06-15')
  const refused = ['chains.unshipped: give start_block or start_date, not both']
  assertRefused(withChain({ start_block: 0, start_date: '2025-06-15' }), refused)
  assertRefused(withChain({ start_block: 7 }), refused, variables)
  for (const start_date of [
    '2025-02-31',
    '15.06.2025',
    '2025-06-15T12:00:00',
    '2025-06-15T25:00Z',
    '',
    '0',
  ]) {
    assertRefused(withChain({ start_date }), [
      'chains.unshipped.start_date must be a date (2025-06-15) or a time (2025-06-15T12:00:00Z)',
    ])
  }
  assertRefused(withChain({ start_date: 20_250_615 }), ['chains.unshipped.start_date must be text'])
})

test('certificates that cannot be read, or would not be used, are refused', () => {
  assert.equal(load({ ...minimal, redis: { url: 'rediss://127.0.0.1', ca_file: file } }).redis.ca_file, file)
  assertRefused({ ...minimal, redis: { ca_file: file } }, [
    'redis.ca_file needs a URL that starts with rediss://',
  ])
  const variables = { CHAINTAPE_CLICKHOUSE_CERT_FILE: file, CHAINTAPE_CLICKHOUSE_URL: 'https://127.0.0.1' }
  assertRefused(minimal, ['clickhouse: give cert_file and key_file together'], variables)
  assertRefused({ ...minimal, nats: { ca_file: '/nowhere/ca.pem' } }, [
    "nats.ca_file cannot be read: ENOENT: no such file or directory, access '/nowhere/ca.pem'",
  ])
})

const shippedFolder = new URL('../../config/chains/', import.meta.url)
const shipped = (() => {
  try {
    return readdirSync(shippedFolder)
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => name.slice(0, -'.yaml'.length))
  } catch {
    return []
  }
})()

test('a chain we ship needs no more than its nodes, and the operator has the last word', {
  skip: shipped.length === 0,
}, () => {
  for (const name of shipped) {
    const known = load({ ...minimal, chains: { [name]: { rpc_urls: ['http://node'] } } }).chains[name]
    assert.deepEqual(known?.rpc_urls, ['http://node'])
    assert.ok(known.dexes.length > 0 && known.quote_assets.length > 0, name)
    const own = load({ ...minimal, chains: { [name]: { ...chain, chain_id: 5 } } }).chains[name]
    assert.equal(own?.chain_id, 5)
    assert.deepEqual(own?.dexes, load(minimal).chains['unshipped']?.dexes)
  }
})

test('the environment is stronger than the file', () => {
  const config = load(
    { ...minimal, nats: { urls: ['nats://file'] }, chains: { local: chain } },
    {
      CHAINTAPE_DATA_DIR: '/var/lib/chaintape',
      CHAINTAPE_LOG_LEVEL: 'debug',
      CHAINTAPE_NATS_URLS: 'nats://a, nats://b',
      CHAINTAPE_NATS_MAX_FRAME_BYTES: '2048',
      CHAINTAPE_GATEWAY_LEASE_CU: '77',
      CHAINTAPE_CHAINS_LOCAL_RPC_URLS: 'http://one,http://two',
      CHAINTAPE_CHAINS_LOCAL_FINALITY_DEPTH: '12',
      CHAINTAPE_CONFIG: 'not a setting',
      CHAINTAPE_FIXTURES: 'not a setting',
      HOME: '/root',
    },
  )
  assert.equal(config.data_dir, '/var/lib/chaintape')
  assert.equal(config.log_level, 'debug')
  assert.deepEqual(config.nats.urls, ['nats://a', 'nats://b'])
  assert.equal(config.nats.max_frame_bytes, 2048)
  assert.equal(config.gateway.lease_cu, 77)
  assert.deepEqual(config.chains['local']?.rpc_urls, ['http://one', 'http://two'])
  assert.equal(config.chains['local']?.finality_depth, 12)
})

test('a section that only the environment names comes into being', () => {
  const { gateway: _, ...rest } = minimal
  assert.equal(load(rest, { CHAINTAPE_GATEWAY_HOST: '::1' }).gateway.host, '::1')
})

test('a plan says what differs from the default one; the environment may say it too', () => {
  const plans = { free: { cu_per_month: 5, sockets: { connections: 1 } }, pro: null }
  const variables = { CHAINTAPE_PLANS_FREE_BURST: '7', CHAINTAPE_PLANS_FREE_SOCKETS_PRICE_IDS: '9' }
  assertRefused({ ...minimal, plans }, ['plans.pro must be a mapping'])
  assert.deepEqual(load({ ...minimal, plans: { ...plans, pro: {} } }, variables).plans, {
    free: {
      ...defaultPlan,
      burst: 7,
      cu_per_month: 5,
      sockets: { ...defaultPlan.sockets, connections: 1, price_ids: 9 },
    },
    pro: defaultPlan,
  })
})

test('text stays text, even when it looks like a number', () => {
  assert.equal(load(minimal, { CHAINTAPE_CLICKHOUSE_PASSWORD: '1234' }).clickhouse.password, '1234')
})

test('a variable of ours that sets nothing is refused: it is a spelling mistake', () => {
  assertRefused(
    minimal,
    [
      "CHAINTAPE_NATS_URL is no setting; did you mean 'CHAINTAPE_NATS_URLS'?",
      'CHAINTAPE_CHAINS_OTHER_RPC_URLS is no setting',
    ],
    {
      CHAINTAPE_NATS_URL: 'nats://a',
      CHAINTAPE_CHAINS_OTHER_RPC_URLS: 'http://a',
      CHAINTAPE_NATS_URLS: 'nats://a',
    },
  )
})

const refusals: [name: string, content: Tree, ...problems: string[]][] = [
  ['no chains', { gateway: minimal.gateway }, 'chains is missing'],
  ['empty chains', { ...minimal, chains: {} }, 'chains must not be empty'],
  ['chains as a list', { ...minimal, chains: [chain] }, 'chains must be a mapping'],
  ['a chain as text', { ...minimal, chains: { unshipped: 'evm' } }, 'chains.unshipped must be a mapping'],
  [
    'an empty chain that we do not ship',
    { ...minimal, chains: { unshipped: null } },
    'chains.unshipped.family is missing',
    'chains.unshipped.chain_id is missing',
    'chains.unshipped.rpc_urls is missing',
    'chains.unshipped.quote_assets is missing',
    'chains.unshipped.dexes is missing',
  ],
  [
    'a chain whose name could be a path',
    { ...minimal, chains: { unshipped: chain, '../eth': chain } },
    "chains.../eth is not a chain's name: a small letter, then small letters, digits or _",
  ],
  ['an unknown section', { ...minimal, natz: {} }, 'natz is not a setting; did you mean nats?'],
  [
    'an unknown setting',
    { ...minimal, nats: { url: 'x' } },
    'nats.url is not a setting; did you mean nats.urls?',
  ],
  [
    'an unknown setting of a chain',
    withChain({ rpc_url: 'x' }),
    'chains.unshipped.rpc_url is not a setting; did you mean chains.unshipped.rpc_urls?',
  ],
  [
    'a word not allowed',
    { ...minimal, log_level: 'loud' },
    'log_level must be one of: trace, debug, info, warn, error',
  ],
  [
    'no word at all',
    { ...minimal, log_level: 3 },
    'log_level must be one of: trace, debug, info, warn, error',
  ],
  [
    'a word not allowed, deep inside',
    withChain({ quote_assets: [...chain.quote_assets, { address: mixedCase, kind: 'gold' }] }),
    'chains.unshipped.quote_assets.1.kind must be one of: stable, native, major',
  ],
  [
    'a malformed address',
    withChain({ dexes: [{ ...chain.dexes[0], factory: '0x12' }] }),
    'chains.unshipped.dexes.0.factory must match pattern "^0x[0-9a-fA-F]{40}$"',
  ],
  [
    'text for a number',
    { ...minimal, writer: { max_batch_ms: 'soon' } },
    'writer.max_batch_ms must be an integer',
  ],
  ['a fraction', { ...minimal, writer: { max_batch_ms: 1.5 } }, 'writer.max_batch_ms must be an integer'],
  ['a number for text', { ...minimal, redis: { url: 6379 } }, 'redis.url must be text'],
  ['text for a list', { ...minimal, nats: { urls: 'nats://a' } }, 'nats.urls must be a list'],
  ['a list for a section', { ...minimal, nats: [] }, 'nats must be a mapping'],
  ['an empty section', { ...minimal, nats: null }, 'nats must be a mapping'],
  ['too large', { ...minimal, gateway: { port: 70_000 } }, 'gateway.port must be <= 65535'],
  ['too small', withChain({ poll_ms: 1 }), 'chains.unshipped.poll_ms must be >= 10'],
  ['an empty list', withChain({ rpc_urls: [] }), 'chains.unshipped.rpc_urls must not be empty'],
  [
    'an empty text in a list',
    withChain({ rpc_urls: ['http://a', ''] }),
    'chains.unshipped.rpc_urls.1 must not be empty',
  ],
  ['a plan without a name', { ...minimal, plans: {} }, 'plans must not be empty'],
  ['a plan as text', { ...minimal, plans: { free: 'yes' } }, 'plans.free must be a mapping'],
  [
    'a plan with a name that is none',
    { ...minimal, plans: { Gold: {} } },
    "plans.Gold is not a plan's name: a small letter, then small letters, digits or _",
  ],
  [
    'a plan that allows nothing',
    { ...minimal, plans: { free: { burst: 0 } } },
    'plans.free.burst must be >= 1',
  ],
]

for (const [name, content, ...problems] of refusals) {
  test(`refused: ${name}`, () => assertRefused(content, problems))
}

test('refused: a wrong value in the environment, named like one in the file', () => {
  assertRefused(minimal, ['gateway.port must be an integer'], { CHAINTAPE_GATEWAY_PORT: '0x50' })
  assertRefused(minimal, ['nats.urls must not be empty'], { CHAINTAPE_NATS_URLS: '' })
  assertRefused(minimal, ['nats.urls.1 must not be empty'], { CHAINTAPE_NATS_URLS: 'nats://a,' })
  assertRefused(minimal, ['chains.unshipped.dexes.0 must be a mapping'], {
    CHAINTAPE_CHAINS_UNSHIPPED_DEXES: 'uniswap',
  })
})

test('all problems are told at once, a line each', () => {
  const everyPort = { reader_port: -1, engine_port: -1, writer_port: -1, gateway_port: -1 }
  assertRefused(
    {
      log_level: 'x',
      nats: { replicas: 9, x: 1 },
      gateway: { y: 1 },
      admin: everyPort,
      chains: { unshipped: { family: 'sui' } },
    },
    [
      'CHAINTAPE_X is no setting',
      'log_level must be one of: trace, debug, info, warn, error',
      'nats.x is not a setting',
      'nats.replicas must be <= 5',
      'gateway.y is not a setting',
      'admin.reader_port must be >= 0',
      'admin.engine_port must be >= 0',
      'admin.writer_port must be >= 0',
      'admin.gateway_port must be >= 0',
      'chains.unshipped.chain_id is missing',
      'chains.unshipped.rpc_urls is missing',
      'chains.unshipped.quote_assets is missing',
      'chains.unshipped.dexes is missing',
      'chains.unshipped.family must be one of: evm',
    ],
    { CHAINTAPE_X: '1' },
  )
})

test('what a setting holds is never part of the message', () => {
  assert.throws(
    () => load({ ...minimal, clickhouse: { password: ['tiny secret'] } }),
    (error: Error) => !error.message.includes('tiny secret'),
  )
  for (const line of [
    'a: tiny: secret',
    'b: *tiny',
    'c: "tiny \\q"',
    'd: [tiny',
    '}tiny',
    'e: "tiny',
    'f: @tiny',
    'g: &a tiny\n*tiny : 1',
    '%tiny',
  ]) {
    assert.throws(
      () => load(`password: tiny\n${line}\n`),
      (error: Error) => !error.message.includes('tiny') && error.cause === undefined,
      line,
    )
  }
})

test('without a file the message says so', () => {
  assert.deepEqual(refusal(() => loadConfig(undefined, {})).problems, [
    'configuration from the environment (no --config file given):',
    'chains is missing',
  ])
})

test('a file that cannot be read is named', () => {
  const absent = path.join(folder, 'absent.yaml')
  assert.throws(() => loadConfig(absent, {}), {
    code: 'config_invalid',
    message: `${absent}: no such file; create it, or name another with --config FILE`,
  })
  assert.throws(() => load('- a\n- b'), {
    code: 'config_invalid',
    message: `${file}: the top level must be a mapping`,
  })
  assert.throws(
    () => load('a: [1'),
    (error: Error) => error.message.startsWith(`${file}: Flow sequence`),
  )
  assertRefused('', ['chains is missing'])
})

test('a problem comes with a line to write, which is then accepted', () => {
  const rows: [Tree, string][] = [
    [{}, 'chains: { eth: { rpc_urls: [ http://127.0.0.1:8545 ] } }'],
    [{ ...minimal, gateway: { port: 'x' } }, 'gateway: { port: 8080 }'],
    [{ ...minimal, log_level: 'loud' }, 'log_level: info'],
    [{ ...minimal, nats: { urls: [''] } }, 'nats: { urls: [ nats://127.0.0.1:4222 ] }'],
    [withChain({ poll_ms: 'x' }), 'chains: { unshipped: { poll_ms: 1000 } }'],
    [withChain({ rpc_urls: [] }), 'chains: { unshipped: { rpc_urls: [ http://127.0.0.1:8545 ] } }'],
    [{ ...minimal, plans: { free: { burst: 0 } } }, 'plans: { free: { burst: 100 } }'],
  ]
  for (const [content, line] of rows) {
    assert.deepEqual(refusal(() => load(content)).examples, [line])
    const [section = '', value] = Object.entries(parse(line) as Tree)[0] ?? []
    const written =
      section === 'chains' ? withChain((value as { unshipped?: Tree }).unshipped ?? {}) : minimal
    load(section === 'chains' ? written : { ...minimal, [section]: value })
  }
})

test('every setting has a line to write', () => {
  const paths = settingPaths(configSchema as Node, [])
  assert.ok(paths.length > 50)
  for (const settingPath of paths) assert.ok(exampleLine(settingPath) !== undefined, settingPath.join('.'))
})

test('a misspelt setting names the nearest one', () => {
  assertRefused({ ...minimal, gateway: { prot: 1 } }, [
    'gateway.prot is not a setting; did you mean gateway.port?',
  ])
  assertRefused({ ...minimal, gatway: {} }, ['gatway is not a setting; did you mean gateway?'])
  assertRefused(withChain({ rpc_url: 'x' }), [
    'chains.unshipped.rpc_url is not a setting; did you mean chains.unshipped.rpc_urls?',
  ])
  assertRefused(minimal, ["CHAINTAPE_GATEWAY_PROT is no setting; did you mean 'CHAINTAPE_GATEWAY_PORT'?"], {
    CHAINTAPE_GATEWAY_PROT: '1',
  })
})

test('nothing in it can be changed', () => {
  const assertFrozen = (node: unknown, where: string): void => {
    if (typeof node !== 'object' || node === null) return
    assert.ok(Object.isFrozen(node), where)
    for (const [name, child] of Object.entries(node)) assertFrozen(child, `${where}.${name}`)
  }
  assertFrozen(load(minimal), 'config')
})

test('addresses are lower-cased, other text is left alone', () => {
  const config = load(
    withChain({
      rpc_urls: [`http://node/${mixedCase}`],
      quote_assets: [{ address: mixedCase, kind: 'native' }],
    }),
  )
  assert.equal(config.chains['unshipped']?.quote_assets[0]?.address, mixedCase.toLowerCase())
  assert.equal(config.chains['unshipped']?.dexes[0]?.factory, mixedCase.toLowerCase())
  assert.deepEqual(config.chains['unshipped']?.rpc_urls, [`http://node/${mixedCase}`])
})

type Node = { properties?: Record<string, Node>; patternProperties?: Record<string, Node> }

function settingNames(node: Node, prefix: string, chains: readonly string[]): string[] {
  const member = Object.values(node.patternProperties ?? {})[0]
  const children: [string, Node][] =
    member === undefined ? Object.entries(node.properties ?? {}) : chains.map((name) => [name, member])
  if (children.length === 0) return [prefix]
  return children.flatMap(([name, child]) => settingNames(child, `${prefix}_${name.toUpperCase()}`, chains))
}

test('no two settings share a variable, however a chain is named', () => {
  const member = Object.values(configSchema.properties.chains.patternProperties)[0] as Node
  const settings = Object.keys(member.properties ?? {})
  assert.ok(settings.length > 5)
  // The worst names: those that swallow the beginning of another chain's setting.
  const beginnings = settings.flatMap((setting) =>
    setting.split('_').map((_, at, words) => words.slice(0, at).join('_')),
  )
  const chains = [
    ...new Set(['a', ...beginnings.filter((words) => words !== '').map((words) => `a_${words}`)]),
  ]
  const names = settingNames(configSchema as Node, 'CHAINTAPE', chains)
  assert.ok(names.length > chains.length * settings.length)
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

function settingPaths(node: Node, at: readonly string[]): (readonly string[])[] {
  const member = Object.values(node.patternProperties ?? {})[0]
  const children: [string, Node][] =
    member === undefined ? Object.entries(node.properties ?? {}) : [['some', member]]
  const inner = children.flatMap(([name, child]) => settingPaths(child, [...at, name]))
  return at.length === 0 ? inner : [at, ...inner]
}
