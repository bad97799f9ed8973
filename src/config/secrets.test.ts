import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../../test/support/builders/config-file.ts'
import { hideSecrets, scrub } from '../lib/secrets.ts'
import { loadConfig } from './load.ts'
import { secretsOf } from './secrets.ts'

const RPC = { CHAINTAPE_CHAINS_ETH_RPC_URLS: 'http://127.0.0.1' }

test('every secret of a configuration is hidden, wherever it stands in a text', () => {
  const env = {
    CHAINTAPE_NATS_URLS: 'nats://user:canary-nats-url@127.0.0.1:4222,nats://canary-nats-token-url@127.0.0.1',
    CHAINTAPE_NATS_USERNAME: 'chaintape',
    CHAINTAPE_NATS_PASSWORD: 'canary-"quoted"-password',
    CHAINTAPE_CLICKHOUSE_PASSWORD: 'canary-clickhouse',
    CHAINTAPE_REDIS_URL: 'redis://:canary%2Fredis@127.0.0.1:6379',
    CHAINTAPE_CHAINS_ETH_RPC_URLS:
      'http://127.0.0.1/v3/canary-in-the-path,http://u:canary-user-info@127.0.0.1/?key=canary-query,http://canary-user-as-key:x@127.0.0.1,http://127.0.0.1/?k=canary%2Fencoded',
    CHAINTAPE_CHAINS_ETH_WS_URLS: 'ws://127.0.0.1/ws/canary-of-the-socket',
  }
  const config = loadConfig(new URL('../../test/support/builders/eth.yaml', import.meta.url).pathname, env)
  hideSecrets(secretsOf(config))
  const text = JSON.stringify({ env, decoded: 'canary/redis' })
  assert.doesNotMatch(scrub(text), /canary/)
  assert.match(scrub(text), /127\.0\.0\.1/)
})

test('a URL that cannot be parsed is hidden as a whole', () => {
  const env = {
    CHAINTAPE_REDIS_URL: 'redis://user:canary-broken@host:no-port',
    CHAINTAPE_NATS_URLS: 'user:canary-without-scheme@127.0.0.1:4222',
  }
  hideSecrets(
    secretsOf(
      loadConfig(new URL('../../test/support/builders/eth.yaml', import.meta.url).pathname, {
        ...RPC,
        ...env,
      }),
    ),
  )
  assert.doesNotMatch(scrub(`${JSON.stringify(env)} canary-broken canary-without-scheme`), /canary/)
})

test('the secrets of a Solana chain are hidden', () => {
  const env = {
    CHAINTAPE_CHAINS_SOLANA_RPC_URLS: 'http://127.0.0.1/?api-key=canary-query',
    CHAINTAPE_CHAINS_SOLANA_GRPC_URLS: 'http://127.0.0.1/canary-in-the-path',
    CHAINTAPE_CHAINS_SOLANA_GRPC_TOKEN: 'canary-token',
  }
  hideSecrets(secretsOf(load({ chains: { solana: {} } }, env)))
  assert.doesNotMatch(scrub(JSON.stringify(env)), /canary/)
})
