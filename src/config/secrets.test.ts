import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hideSecrets, scrub } from '../lib/secrets.ts'
import { loadConfig } from './load.ts'
import { secretsOf } from './secrets.ts'

test('every secret of a configuration is hidden, wherever it stands in a text', () => {
  const env = {
    CHAINTAPE_NATS_URLS: 'nats://user:canary-nats-url@127.0.0.1:4222,nats://canary-nats-token-url@127.0.0.1',
    CHAINTAPE_NATS_USERNAME: 'chaintape',
    CHAINTAPE_NATS_PASSWORD: 'canary-"quoted"-password',
    CHAINTAPE_CLICKHOUSE_PASSWORD: 'canary-clickhouse',
    CHAINTAPE_REDIS_URL: 'redis://:canary%2Fredis@127.0.0.1:6379',
    CHAINTAPE_CHAINS_ETH_RPC_URLS:
      'http://127.0.0.1/v3/canary-in-the-path,http://u:canary-user-info@127.0.0.1/?key=canary-query',
    CHAINTAPE_CHAINS_ETH_WS_URLS: 'ws://127.0.0.1/ws/canary-of-the-socket',
  }
  const config = loadConfig(new URL('../../test/support/eth.yaml', import.meta.url).pathname, env)
  hideSecrets(secretsOf(config))
  const text = JSON.stringify({ env, decoded: 'canary/redis' })
  assert.doesNotMatch(scrub(text), /canary/)
  assert.match(scrub(text), /127\.0\.0\.1/)
})
