import assert from 'node:assert/strict'
import { EvmFacts } from '../../src/chain/evm/facts/facts.ts'
import { toTokenFact } from '../../src/chain/evm/facts/token-fact.ts'
import { inspectToken } from '../../src/chain/evm/inspect/inspect-token.ts'
import type { MarketPair } from '../../src/chain/evm/inspect/market.ts'
import type { Multicall } from '../../src/chain/evm/rpc/multicall.ts'
import { RpcFailure } from '../../src/chain/rpc/rpc-failure.ts'
import type { DexDeployment } from '../../src/dex/protocol.ts'
import { EVM_PROTOCOLS } from '../../src/dex/protocols.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { Fact, RawLog } from '../../src/domain/envelope.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import { ALL_OF_IT_PPM } from '../../src/domain/inspection.ts'
import { ZERO_ADDRESS } from '../../src/domain/known-addresses.ts'
import { shownText } from '../../src/domain/token-text.ts'
import { expectEncodable } from '../../src/wire/fact-codec.ts'
import { hostileNode, randomAnswer } from './hostile-node.ts'
import { Random } from './random.ts'
import { hexOf, randomAddress, randomWord } from './random-words.ts'

/**
 * Hostile contracts answer every call of an inspection, and of token and pool facts, with random data. Nothing may
 * throw, and every fact must encode and decode. A hostile node may cause retryable errors only.
 */

const HOSTILE_NODE_SHARE = 0.1
const INSPECTION_SHARE = 0.25
const POOL_SHARE = 0.25
const NATIVE = { name: 'Ether', symbol: 'ETH', decimals: 18 }
/** CPU time: on a busy machine the clock says nothing about a case. */
const MAX_CASE_MS = 2_000
const MAX_UINT256 = 2n ** 256n - 1n

const deployments: DexDeployment[] = Object.keys(EVM_PROTOCOLS).map((protocol, index) => ({
  amm: protocol,
  protocol,
  factory: `0x${(index + 1).toString(16).padStart(40, 'f')}`,
  positionManager: `0x${(index + 1).toString(16).padStart(40, 'e')}`,
}))
const registry = new DexRegistry(deployments)
const topics = Object.values(EVM_PROTOCOLS).flatMap(({ announcements, events }) => [
  ...Object.keys(announcements),
  ...Object.keys(events),
])
const LOCKERS = [`0x${'10c4'.padStart(40, '0')}`]
const NOTHING_KNOWN = { knowsPool: () => false, knowsToken: () => false }

export async function fuzzAll(cases: number, seed: number): Promise<string> {
  const seen = { inspections: 0, facts: 0, retried: 0 }
  for (let index = 0; index < cases; index++) {
    const random = new Random(seed + index)
    const started = process.cpuUsage()
    try {
      const dice = random.next()
      if (dice < INSPECTION_SHARE) await inspect(random, seen)
      else if (dice < INSPECTION_SHARE + POOL_SHARE) await gather(random, seen)
      else checkToken(random, seen)
      assert.ok(process.cpuUsage(started).user / 1_000 < MAX_CASE_MS, 'one case took too long')
    } catch (cause) {
      throw Object.assign(new Error('a case failed', { cause }), { index })
    }
  }
  return `${seen.inspections} reports and ${seen.facts} facts encoded, ${seen.retried} retryable errors of hostile nodes`
}

type Seen = { inspections: number; facts: number; retried: number }

async function inspect(random: Random, seen: Seen): Promise<void> {
  const isNodeHostile = random.chance(HOSTILE_NODE_SHARE)
  const node = hostileNode(random, isNodeHostile)
  const address = randomAddress(random)
  const pairs = Array.from({ length: random.below(3) }, () => randomPair(random))
  const block = { number: random.below(2 ** 40), hash: hexOf(random.bytes(32)), time: random.below(2 ** 40) }
  const method = random.pick(['simulate', 'call'] as const)
  try {
    const inspection = await inspectToken(
      { verified: (ask) => ask(node) },
      { token: address, block, pairs },
      { method },
    )
    expectEncodable({ type: 'inspection', address, inspection })
    const { trial } = inspection
    for (const step of typeof trial === 'object' ? [trial.buy, trial.transfer, trial.sell] : []) {
      const tax = step?.taxPpm ?? 0
      assert.ok(tax >= 0 && tax <= ALL_OF_IT_PPM && Number.isInteger(tax), `tax of ${tax} ppm`)
      assert.ok(step?.reason?.isWellFormed() ?? true)
    }
    seen.inspections++
  } catch (error) {
    const isRetried = error instanceof RpcFailure || (error instanceof ChaintapeError && error.retryable)
    const isOfNode = isNodeHostile || (error instanceof RpcFailure && error.kind === 'reverted')
    if (!isRetried || !isOfNode) throw error
    seen.retried++
  }
}

function randomPair(random: Random): MarketPair {
  const quote = random.chance(0.2) ? ZERO_ADDRESS : randomAddress(random)
  const deployment = random.pick(deployments)
  const { readMarket: read, readCurve } = EVM_PROTOCOLS[deployment.protocol] ?? {}
  const manager = deployment.factory
  if (readCurve !== undefined) {
    const token = randomAddress(random)
    return {
      address: hexOf(random.bytes(32)),
      kind: 'curve',
      quote,
      manager,
      read: () => readCurve(token, deployment),
    }
  }
  if (read === undefined)
    return {
      address: randomAddress(random),
      kind: random.pick(['v2', 'v3', 'solidly', 'algebra'] as const),
      quote,
    }
  const address = hexOf(random.bytes(32))
  const key = random.chance(0.5) ? Array.from({ length: 5 }, () => hexOf(randomWord(random))) : undefined
  return {
    address,
    kind: 'vault',
    quote,
    manager: deployment.factory,
    read: () => read(address, deployment, key),
  }
}

/** Logs of every protocol, and random answers to the calls that they cause. */
async function gather(random: Random, seen: Seen): Promise<void> {
  const ask = async (calls: readonly unknown[]) => calls.map(() => plausibleAnswer(random))
  const multicall = { ask, askExactly: ask } as unknown as Multicall
  const logs = Array.from({ length: random.between(1, 4) }, (_, index) => randomLog(random, index))
  const header = {
    number: random.below(2 ** 31),
    hash: hexOf(random.bytes(32)),
    parentHash: hexOf(random.bytes(32)),
    time: random.below(2 ** 31),
  }
  const transaction = { index: 0, hash: hexOf(random.bytes(32)), from: randomAddress(random), logs }
  const { facts } = await new EvmFacts(multicall, registry, NATIVE, new Set(), LOCKERS).gather(
    header,
    [transaction],
    NOTHING_KNOWN,
  )
  for (const fact of facts) check(fact, seen)
}

function randomLog(random: Random, index: number): RawLog {
  const indexed = Array.from({ length: random.below(4) }, () => hexOf(randomWord(random)))
  const { factory } = random.pick(deployments)
  return {
    index,
    address: random.chance(0.6) ? factory : randomAddress(random),
    topics: [random.pick(topics), ...indexed],
    data: Buffer.concat(Array.from({ length: random.below(10) }, () => randomWord(random))),
  }
}

/** Often the address of a known factory, so that most lookups run to their end. */
function plausibleAnswer(random: Random): Uint8Array | undefined {
  if (random.chance(0.6)) return randomAnswer(random)
  const factory = Buffer.from(random.pick(deployments).factory.slice(2).padStart(64, '0'), 'hex')
  return Buffer.concat([factory, ...Array.from({ length: random.below(4) }, () => randomWord(random))])
}

function checkToken(random: Random, seen: Seen): void {
  const answers = Array.from({ length: random.below(6) }, () => randomAnswer(random))
  const fact = toTokenFact(randomAddress(random), answers)
  check(fact, seen)
  for (const raw of [fact.nameRaw, fact.symbolRaw]) assert.ok(shownText(raw).isWellFormed())
}

function check(fact: Fact, seen: Seen): void {
  expectEncodable(fact)
  const amounts =
    fact.type === 'token'
      ? [fact.supplyRaw]
      : fact.type === 'pool'
        ? [...(fact.reservesBefore ?? []), fact.goalRaw]
        : []
  for (const amount of amounts)
    assert.ok(amount === undefined || (amount >= 0n && amount <= MAX_UINT256), `${amount}`)
  seen.facts++
}
