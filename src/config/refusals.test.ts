import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import {
  assertRefused,
  chain,
  file,
  folder,
  load,
  minimal,
  mixedCase,
  refusal,
  solanaChain,
  type Tree,
  withChain,
  withSolanaChain,
} from '../../test/support/builders/config-file.ts'
import { PROTOCOL_NAMES } from './chain-schema.ts'
import { loadConfig } from './load.ts'

test('a variable of ours that sets nothing is refused: it is a spelling mistake', () => {
  assertRefused(
    minimal,
    [
      "CHAINTAPE_NATS_URL is not a setting; did you mean 'CHAINTAPE_NATS_URLS'?",
      'CHAINTAPE_CHAINS_OTHER_RPC_URLS is not a setting',
    ],
    {
      CHAINTAPE_NATS_URL: 'nats://a',
      CHAINTAPE_CHAINS_OTHER_RPC_URLS: 'http://a',
      CHAINTAPE_NATS_URLS: 'nats://a',
    },
  )
})

const NOT_BASE58 = 'must be base58 of 32 bytes, in upper and lower case as published'

const refusals: [name: string, content: Tree, ...problems: string[]][] = [
  ['no chains', { gateway: minimal.gateway }, 'chains is missing'],
  ['empty chains', { ...minimal, chains: {} }, 'chains must not be empty'],
  ['chains as a list', { ...minimal, chains: [chain] }, 'chains must be a mapping'],
  ['a chain as text', { ...minimal, chains: { unshipped: 'evm' } }, 'chains.unshipped must be a mapping'],
  [
    'an empty chain that we do not ship',
    { ...minimal, chains: { unshipped: null } },
    'chains.unshipped.family is missing',
    'chains.unshipped.rpc_urls is missing',
    'chains.unshipped.quote_assets is missing',
    'chains.unshipped.dexes is missing',
  ],
  [
    'a chain whose name could be a path',
    { ...minimal, chains: { unshipped: chain, '../eth': chain } },
    "chains.../eth is not a chain's name: a lowercase letter, then lowercase letters, digits or _",
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
  [
    'a chain of a family without its identity',
    {
      ...minimal,
      chains: { a: { ...chain, chain_id: undefined }, b: { ...solanaChain, genesis_hash: undefined } },
    },
    'chains.a.chain_id is missing',
    'chains.b.genesis_hash is missing',
  ],
  [
    'settings of EVM chains on a Solana chain',
    withSolanaChain({
      chain_id: 101,
      finality_depth: 32,
      receipts_root: 'verified',
      ws_urls: [],
      calls: {},
      dexes: [{ ...solanaChain.dexes[0], init_code_hash: `0x${'0'.repeat(64)}` }],
    }),
    ...['chain_id', 'finality_depth', 'receipts_root', 'ws_urls', 'calls', 'dexes.0.init_code_hash'].map(
      (name) => `chains.unshipped.${name} is not a setting of the family solana; only evm chains have it`,
    ),
  ],
  [
    'settings of Solana chains on an EVM chain',
    withChain({ genesis_hash: solanaChain.genesis_hash, grpc_urls: [], grpc_token: 'x' }),
    ...['genesis_hash', 'grpc_urls', 'grpc_token'].map(
      (name) => `chains.unshipped.${name} is not a setting of the family evm; only solana chains have it`,
    ),
  ],
  [
    'a protocol of another family',
    withSolanaChain({ dexes: [{ ...solanaChain.dexes[0], protocol: 'uniswap_v2' }] }),
    `chains.unshipped.dexes.0.protocol must be one of: ${PROTOCOL_NAMES.solana.join(', ')}`,
  ],
  [
    'an EVM address on a Solana chain, and the reverse',
    {
      ...minimal,
      chains: {
        a: { ...chain, lockers: ['So11111111111111111111111111111111111111112'] },
        b: { ...solanaChain, lockers: [mixedCase] },
      },
    },
    'chains.a.lockers.0 must match pattern "^0x[0-9a-fA-F]{40}$"',
    `chains.b.lockers.0 ${NOT_BASE58}`,
  ],
  ...[
    ['of another length', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGG'],
    ['in lower case', 'epjfwdd5aufqssqem2qn1xzybapc8g4weggkzwytdt1v'],
    ['with a letter that base58 lacks', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1O'],
  ].map(([what, factory]): [string, Tree, string] => [
    `a base58 address ${what}`,
    withSolanaChain({ dexes: [{ ...solanaChain.dexes[0], factory }] }),
    `chains.unshipped.dexes.0.factory ${NOT_BASE58}`,
  ]),
  ['a plan without a name', { ...minimal, plans: {} }, 'plans must not be empty'],
  ['a plan as text', { ...minimal, plans: { free: 'yes' } }, 'plans.free must be a mapping'],
  [
    'a plan with a name that is none',
    { ...minimal, plans: { Gold: {} } },
    "plans.Gold is not a plan's name: a lowercase letter, then lowercase letters, digits or _",
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

test('all problems are reported at once, one per line', () => {
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
      'CHAINTAPE_X is not a setting',
      'log_level must be one of: trace, debug, info, warn, error',
      'nats.x is not a setting',
      'nats.replicas must be <= 5',
      'gateway.y is not a setting',
      'admin.reader_port must be >= 0',
      'admin.engine_port must be >= 0',
      'admin.writer_port must be >= 0',
      'admin.gateway_port must be >= 0',
      'chains.unshipped.rpc_urls is missing',
      'chains.unshipped.quote_assets is missing',
      'chains.unshipped.dexes is missing',
      'chains.unshipped.family must be one of: evm, solana',
    ],
    { CHAINTAPE_X: '1' },
  )
})

test('error messages never contain the value of a setting', () => {
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
  assert.deepEqual(refusal(() => load(withSolanaChain({ dexes: [], genesis_hash: 'x' }))).examples, [
    'chains: { unshipped: { genesis_hash: "11111111111111111111111111111111" } }',
    'chains: { unshipped: { dexes: [ { amm: raydium_cpmm, protocol: raydium_cpmm, factory: "11111111111111111111111111111111" } ] } }',
  ])
  for (const [content, line] of rows) {
    assert.deepEqual(refusal(() => load(content)).examples, [line])
    const [section = '', value] = Object.entries(parse(line) as Tree)[0] ?? []
    const written =
      section === 'chains' ? withChain((value as { unshipped?: Tree }).unshipped ?? {}) : minimal
    load(section === 'chains' ? written : { ...minimal, [section]: value })
  }
})

test('a misspelled setting names the nearest one', () => {
  assertRefused({ ...minimal, gateway: { prot: 1 } }, [
    'gateway.prot is not a setting; did you mean gateway.port?',
  ])
  assertRefused({ ...minimal, gatway: {} }, ['gatway is not a setting; did you mean gateway?'])
  assertRefused(withChain({ rpc_url: 'x' }), [
    'chains.unshipped.rpc_url is not a setting; did you mean chains.unshipped.rpc_urls?',
  ])
  assertRefused(
    minimal,
    ["CHAINTAPE_GATEWAY_PROT is not a setting; did you mean 'CHAINTAPE_GATEWAY_PORT'?"],
    {
      CHAINTAPE_GATEWAY_PROT: '1',
    },
  )
})
