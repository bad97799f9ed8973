import assert from 'node:assert/strict'
import { parseRpcTransaction } from '../../src/chain/solana/parse-transaction.ts'
import type { DexEvent } from '../../src/dex/events.ts'
import { noMoves } from '../../src/dex/move-sums.ts'
import type { DexDeployment } from '../../src/dex/protocol.ts'
import { encodeRecord, type RecordContent } from '../../src/dex/solana/instruction-record.ts'
import { WSOL } from '../../src/dex/solana/known-keys.ts'
import {
  addOwnerBalances,
  isOwnerBalancesLog,
  mintBalancesIn,
  OWNER_BALANCES,
} from '../../src/dex/solana/owner-balances.ts'
import { knownPrograms, SOLANA_PROTOCOLS } from '../../src/dex/solana/protocols.ts'
import { rawLogsOf } from '../../src/dex/solana/raw-logs.ts'
import type { SolanaInstruction, SolanaTransaction, TokenBalance } from '../../src/dex/solana/transaction.ts'
import type { RawLog } from '../../src/domain/envelope.ts'
import { allSolanaTransactions, hasSolanaRecordings } from '../support/recorded/recorded-solana.ts'
import { SOLANA_DEPLOYMENTS } from '../support/recorded/solana-programs.ts'
import { checkEvent, checkFound } from './dex-rules.ts'
import type { Random } from './random.ts'

/**
 * Anyone can send any transaction, and a node can return anything: no input makes the parser, the log builder or a
 * decoder throw, and every event keeps the rules of events.ts, with amounts on both sides of each swap.
 */

const programs = knownPrograms(SOLANA_DEPLOYMENTS)
const deployments: DexDeployment[] = SOLANA_DEPLOYMENTS.map((each) => ({ amm: each.protocol, ...each }))
const topics = deployments.flatMap(({ protocol, factory }) => {
  const is = SOLANA_PROTOCOLS[protocol]
  const all = [...Object.keys(is?.announcements ?? {}), ...Object.keys(is?.events ?? {})]
  return all.map((topic) => ({ address: factory, topic }))
})
const real = hasSolanaRecordings ? allSolanaTransactions().map(({ transaction }) => transaction) : []
const allLogs = real.flatMap((transaction) => rawLogsOf(transaction, programs, 0))
const realLogs = allLogs.filter((log) => !isOwnerBalancesLog(log))
const realBalances = allLogs.filter(isOwnerBalancesLog)

const U64 = (1n << 64n) - 1n
const ODD_AMOUNTS = [0n, 1n, U64, U64 - 1n, 1n << 63n]
/** The first bytes of all known events and of the tag of calls. */
const EVENT_STARTS = [
  ...['e445a52e51cb9a1d', 'bddb7fd34ee661ee', '1b72a94ddeeb6376', '5f72619cd42e9808', '67f4521f2cf57777'],
  ...['3e2f370aa503dc2a', '40c6cde8260871e2', '195e4b2f7063353f', '97d7e20976a173ae', '516ce3becdd00ac4'],
  ...['2e7452d7941b544d', 'b94afc7d1bd7bc6f', '1f5e7d5ae3343dba', '74f461e8671f983a', 'bd4233a826507599'],
  ...['e1ca49af932ba096', '6476ad570cc6fee5', 'ca2c295868dc9d52', '757be4b6a1a8dcd6', '03', '04'],
  ...['3b8a4c448a83b043', 'ae7c4af90451f611', '3f451c16305cc2b9'],
].map((hex) => Buffer.from(hex, 'hex'))

export function fuzz(random: Random): void {
  const kind = random.below(11)
  if (kind === 10) checkBalances(mutatedBalanceLog(random))
  else if (kind < 4 && real.length > 0)
    checkTransaction(random, mutatedTransaction(random, random.pick(real)))
  else if (kind < 7 && realLogs.length > 0) checkLog(random, mutatedLog(random, random.pick(realLogs)))
  else if (kind < 9) checkLog(random, inventedLog(random))
  else parseRpcTransaction(inventedAnswer(random), random.below(2 ** 31))
}

function checkTransaction(random: Random, transaction: SolanaTransaction): void {
  const logs = rawLogsOf(transaction, programs, 0)
  if (transaction.isFailed) assert.deepEqual(logs, [])
  for (const [index, log] of logs.entries()) {
    assert.equal(log.index, index)
    if (!isOwnerBalancesLog(log)) checkLog(random, log)
    else assert.ok(checkBalances(log), 'a record that we wrote is read')
  }
}

function checkLog(random: Random, log: RawLog): void {
  const is = SOLANA_PROTOCOLS[deployments.find(({ factory }) => factory === log.address)?.protocol ?? '']
  const topic = log.topics[0] ?? ''
  const event = is?.announcements[topic]?.(log) ?? is?.events[topic]?.(log)
  if (event === undefined || is === undefined) return
  checkEvent(event)
  checkAmounts(event)
  const inquiry = is.identify(event.pool, deployments, log)
  let step = inquiry.next([])
  if (!step.done) step = inquiry.next(random.chance(0.5) ? [random.bytes(random.below(300))] : [])
  if (step.done && step.value !== undefined) checkFound(step.value)
}

function mutatedBalanceLog(random: Random): RawLog {
  const log = realBalances.length === 0 ? undefined : random.pick(realBalances)
  const data = log === undefined ? random.bytes(random.below(300)) : mutatedBytes(random, log.data)
  return { index: 0, address: WSOL, topics: [OWNER_BALANCES], data }
}

/** No balance is negative or beyond 64 bits. False if the log is no record. */
function checkBalances(log: RawLog): boolean {
  const [balances] = mintBalancesIn([log])
  if (balances === undefined) return false
  for (const amount of [balances.mintedRaw, balances.burnedRaw]) assert.ok(amount >= 0n && amount <= U64)
  const sums = noMoves()
  addOwnerBalances(sums, balances)
  for (const [owner, gain] of sums.gains) assert.ok((sums.floors?.get(owner) ?? 0n) + gain >= 0n)
  return true
}

function checkAmounts(event: DexEvent): void {
  if (event.type !== 'swapped') return
  const { delta0, delta1 } = event
  assert.ok(delta0 > 0n ? delta1 < 0n : delta0 < 0n && delta1 > 0n, `${delta0} for ${delta1}`)
}

function mutatedTransaction(random: Random, transaction: SolanaTransaction): SolanaTransaction {
  let changed: SolanaTransaction = { ...transaction, isFailed: random.chance(0.1) }
  for (let times = random.between(1, 4); times > 0; times--) changed = mutatedOnce(random, changed)
  return changed
}

function mutatedOnce(random: Random, transaction: SolanaTransaction): SolanaTransaction {
  const { keys, instructions, logMessages } = transaction
  const at = random.below(Math.max(1, instructions.length))
  const instruction = instructions[at]
  switch (random.below(8)) {
    case 0:
      return { ...transaction, instructions: instructions.toSpliced(at, 1) }
    case 1:
      return instruction === undefined
        ? transaction
        : { ...transaction, instructions: instructions.toSpliced(at, 0, instruction) }
    case 2:
      return { ...transaction, logMessages: logMessages.slice(0, random.below(logMessages.length + 1)) }
    case 3:
      return { ...transaction, postTokenBalances: mutatedBalances(random, transaction.postTokenBalances) }
    case 4:
      return { ...transaction, preTokenBalances: mutatedBalances(random, transaction.preTokenBalances) }
    case 5:
      return { ...transaction, keys: keys.with(random.below(keys.length), random.bytes(32)) }
    default: {
      if (instruction === undefined) return transaction
      const other = mutatedInstruction(random, instruction, keys.length)
      return { ...transaction, instructions: instructions.with(at, other) }
    }
  }
}

function mutatedInstruction(random: Random, instruction: SolanaInstruction, keys: number): SolanaInstruction {
  const { accounts, data } = instruction
  switch (random.below(4)) {
    case 0:
      return { ...instruction, data: mutatedBytes(random, data) }
    case 1:
      return { ...instruction, stackHeight: random.between(1, 5) }
    case 2:
      return { ...instruction, accounts: accounts.slice(0, random.below(accounts.length + 1)) }
    default:
      return {
        ...instruction,
        accounts: accounts.map((each) => (random.chance(0.2) ? random.below(keys) : each)),
      }
  }
}

function mutatedBalances(random: Random, balances: readonly TokenBalance[]): TokenBalance[] {
  return balances.flatMap((balance) => {
    if (random.chance(0.2)) return []
    return [random.chance(0.3) ? { ...balance, amount: random.pick(ODD_AMOUNTS) } : balance]
  })
}

function mutatedLog(random: Random, log: RawLog): RawLog {
  let { data } = log
  for (let times = random.between(1, 3); times > 0; times--) data = mutatedBytes(random, data)
  const { topic } = random.pick(topics.filter(({ address }) => address === log.address))
  return { ...log, data, topics: random.chance(0.7) ? log.topics : [topic] }
}

function mutatedBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(bytes)
  switch (random.below(5)) {
    case 0:
      return changed.subarray(0, random.below(changed.length + 1))
    case 1:
      return Uint8Array.from([...changed, ...random.bytes(random.below(20))])
    case 2:
      // Eight bytes of an extreme amount.
      if (changed.length > 8)
        changed.fill(random.pick([0, 0xff]), random.below(changed.length - 8)).subarray(0, 8)
      return changed
    default:
      for (let flips = random.between(1, 6); flips > 0 && changed.length > 0; flips--) {
        const at = random.below(changed.length)
        changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8))
      }
      return changed
  }
}

/** A well-formed record of random content, with few keys so that vaults and transfers often meet. */
function inventedLog(random: Random): RawLog {
  const { address, topic } = random.pick(topics)
  const keys = Array.from({ length: random.between(2, 30) }, () => random.bytes(32))
  const key = (): number => random.below(keys.length)
  const amount = (): bigint => (random.chance(0.2) ? random.pick(ODD_AMOUNTS) : BigInt(random.below(2 ** 32)))
  const content: RecordContent = {
    stackHeight: random.between(1, 5),
    keys,
    accounts: Array.from({ length: random.between(0, 28) }, (_, nth) =>
      random.chance(0.8) ? nth % keys.length : key(),
    ),
    data: random.bytes(random.below(40)),
    transfers: Array.from({ length: random.below(10) }, () => {
      const moved = amount()
      const mint = random.chance(0.9) ? key() : undefined
      return {
        source: key(),
        destination: key(),
        mint,
        amount: moved,
        fee: random.chance(0.9) ? 0n : moved / 3n,
      }
    }),
    events: Array.from({ length: random.below(3) }, () => {
      const tail = random.bytes(random.below(500))
      return Buffer.concat([random.pick(EVENT_STARTS), random.chance(0.3) ? tail.fill(0) : tail])
    }),
    balances: Array.from({ length: random.below(8) }, () => {
      return { account: key(), mint: key(), before: amount(), after: amount() }
    }),
  }
  const data = encodeRecord(content)
  assert.ok(data !== undefined)
  return { index: 0, address, topics: [topic], data }
}

/** JSON of roughly the right form. */
function inventedAnswer(random: Random): { transaction: unknown; meta: unknown } {
  const text = (): unknown =>
    random.pick(['', '1', 'z'.repeat(44), '1'.repeat(32), 'not base58: 0OIl', null, 7])
  const number = (): unknown => random.pick([0, 1, 255, 256, -1, 0.5, 2 ** 60, '3', null])
  const instruction = (): unknown =>
    random.chance(0.9)
      ? { programIdIndex: number(), accounts: [number()], data: text(), stackHeight: number() }
      : text()
  const balance = (): unknown => ({
    accountIndex: number(),
    mint: text(),
    owner: text(),
    programId: text(),
    uiTokenAmount: random.pick([{ amount: '12' }, { amount: '-1' }, { amount: 'x' }, {}, null]),
  })
  const json = {
    signatures: [text()],
    message: { accountKeys: ['1'.repeat(32), text()], instructions: [instruction()] },
  }
  const base64 = [Buffer.from(random.bytes(random.below(300))).toString('base64'), 'base64']
  return {
    transaction: random.pick([json, base64, null, 'text', []]),
    meta: random.chance(0.1)
      ? null
      : {
          err: random.pick([null, {}, undefined]),
          innerInstructions: random.pick([null, [], [{ index: number(), instructions: [instruction()] }]]),
          logMessages: random.pick([null, [], ['Program data: AAAA'], [1]]),
          preBalances: random.pick([[], [0], [number()], null]),
          postBalances: random.pick([[], [0], [number()]]),
          preTokenBalances: random.pick([null, [], [balance()]]),
          postTokenBalances: random.pick([undefined, [], [balance()]]),
          loadedAddresses: random.pick([undefined, null, { writable: [text()], readonly: [] }, {}]),
        },
  }
}
