import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import {
  assertRefused,
  chain,
  file,
  load,
  minimal,
  mixedCase,
  solanaChain,
  type Tree,
  withChain,
} from '../../test/support/builders/config-file.ts'
import type { Config, EvmChainConfig } from './schema.ts'

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

test('omitted settings have their defaults', () => {
  assert.deepEqual(load(minimal), {
    data_dir: './data',
    log_level: 'info',
    nats: { urls: ['nats://127.0.0.1:4222'], prefix: 'chaintape', replicas: 1, max_frame_bytes: 900_000 },
    logs: {
      blocks: { max_age_seconds: 1_209_600, max_bytes: 107_374_182_400 },
      changes: { max_age_seconds: 604_800, max_bytes: 107_374_182_400 },
    },
    snapshots: { every_seconds: 3_600 },
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
    refold: { grace_seconds: 600 },
    reconciler: { every_seconds: 3_600, node_blocks: 20 },
    gateway: {
      ...{ host: '127.0.0.1', port: 8080, public_urls: [], token_lists: ['default'], lease_cu: 1_000 },
      overdraft_seconds: 60,
      look_ups_per_minute: 120,
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
      reconciler_port: 9105,
      max_lag_seconds: 60,
    },
    chains: {
      unshipped: {
        ...chain,
        rpc_timeout_ms: 10_000,
        rpc_budget: {},
        start_block: 0,
        poll_ms: 1_000,
        scan_pools: true,
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

test('settings in YAML override the defaults', () => {
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
  assert.equal(evmChain(config, 'unshipped').finality_depth, 2)
  assert.equal(evmChain(config, 'other_2').finality_depth, undefined)
})

test('a token list is a file, or lies at an https address', () => {
  const listsOf = (token_lists: string[]) =>
    load({ ...minimal, gateway: { token_lists } }).gateway.token_lists
  for (const list of ['https://lists.example/all.json', './lists/own.json', '/etc/list.json', 'list.json'])
    assert.deepEqual(listsOf([list]), [list])
  for (const list of ['http://lists.example/all.json', 'ftp://lists.example', 'file:///etc/passwd', ''])
    assert.throws(() => listsOf([list]), { code: 'config_invalid' }, list)
})

test('a section of a shipped chain is merged with the own one, a list is replaced', () => {
  const rpc_urls = ['http://127.0.0.1:1']
  const own = { rpc_urls, native: { supply: 139_000_000 }, lockers: [] }
  const { native, lockers } = load({ ...minimal, chains: { bsc: own } }).chains['bsc'] ?? {}
  assert.deepEqual(native, { name: 'BNB', symbol: 'BNB', decimals: 18, supply: 139_000_000 })
  assert.deepEqual(lockers, [])
  for (const supply of [0, -1, 1.5, 2 ** 53, '5'])
    assert.throws(() => load({ ...minimal, chains: { bsc: { rpc_urls, native: { supply } } } }), {
      code: 'config_invalid',
    })
})

test('a chain may start at a date instead of a block', () => {
  const startOf = (own: Tree) => load(withChain(own)).chains['unshipped']?.start_date
  for (const start_date of ['2025-06-15', '2025-06-15T23:55Z', '2024-02-29T00:00:00Z']) {
    assert.equal(startOf({ start_date }), start_date)
  }
  const variables = { CHAINTAPE_CHAINS_UNSHIPPED_START_DATE: '2025-06-15' }
  assert.equal(load(minimal, variables).chains['unshipped']?.start_date, '2025-06-15')
  const refused = ['chains.unshipped: set start_block or start_date, not both']
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
  assertRefused(minimal, ['clickhouse: set cert_file and key_file together'], variables)
  assertRefused({ ...minimal, nats: { ca_file: '/nowhere/ca.pem' } }, [
    "nats.ca_file cannot be read: ENOENT: no such file or directory, access '/nowhere/ca.pem'",
  ])
})

function evmChain({ chains }: Config, name: string): EvmChainConfig {
  const found = chains[name]
  assert.ok(found?.family === 'evm')
  return found
}

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
    const dexes = known.dexes.slice(0, 1)
    const own = load({ ...minimal, chains: { [name]: { rpc_urls: ['http://node'], poll_ms: 77, dexes } } })
    assert.equal(own.chains[name]?.poll_ms, 77)
    assert.deepEqual(own.chains[name]?.dexes, dexes)
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
  assert.equal(evmChain(config, 'local').finality_depth, 12)
})

test('a section that only the environment names comes into being', () => {
  const { gateway: _, ...rest } = minimal
  assert.equal(load(rest, { CHAINTAPE_GATEWAY_HOST: '::1' }).gateway.host, '::1')
})

test('a plan overrides the defaults; so does the environment', () => {
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

test('a Solana chain has settings of its own, and its addresses keep their case', () => {
  const chains = { sol: { ...solanaChain, lockers: ['1nc1nerator11111111111111111111111111111111'] } }
  const variables = {
    CHAINTAPE_CHAINS_SOL_GRPC_URLS: 'http://127.0.0.1:10000,http://127.0.0.1:10001',
    CHAINTAPE_CHAINS_SOL_GRPC_TOKEN: 'secret',
  }
  assert.deepEqual(load({ ...minimal, chains }, variables).chains['sol'], {
    ...chains.sol,
    rpc_timeout_ms: 10_000,
    rpc_budget: {},
    start_block: 0,
    poll_ms: 1_000,
    read_ahead_blocks: 16,
    grpc_urls: ['http://127.0.0.1:10000', 'http://127.0.0.1:10001'],
    grpc_token: 'secret',
    native: { name: 'Solana', symbol: 'SOL', decimals: 9 },
    simulate: true,
    min_depth_usd: 1_000,
  })
})

test('the family of a chain may be in the environment', () => {
  const { family: _, ...rest } = solanaChain
  const variables = {
    CHAINTAPE_CHAINS_SOL_FAMILY: 'solana',
    CHAINTAPE_CHAINS_SOL_GENESIS_HASH: '11111111111111111111111111111111',
  }
  const found = load({ ...minimal, chains: { sol: rest } }, variables).chains['sol']
  assert.ok(found?.family === 'solana')
  assert.equal(found.genesis_hash, variables.CHAINTAPE_CHAINS_SOL_GENESIS_HASH)
})
