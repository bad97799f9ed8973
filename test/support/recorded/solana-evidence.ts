import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { DexEvent } from '../../../src/dex/events.ts'
import type { SolanaProtocol } from '../../../src/dex/solana/program.ts'
import { knownPrograms, SOLANA_PROTOCOLS } from '../../../src/dex/solana/protocols.ts'
import { rawLogsOf } from '../../../src/dex/solana/raw-logs.ts'
import type { SolanaTransaction } from '../../../src/dex/solana/transaction.ts'
import type { RawLog } from '../../../src/domain/envelope.ts'
import { keyOf, TransactionBuilder, tokenData } from '../builders/parsed-transaction.ts'
import { allSolanaTransactions, hasSolanaRecordings } from './recorded-solana.ts'
import { SOLANA_DEPLOYMENTS } from './solana-programs.ts'

/**
 * The evidence for a program's decoder: for each of its instructions a real transaction, or a synthetic one with the
 * accounts in the places that the program's IDL or source states.
 */
export type Evidence = Readonly<Record<string, Proof | readonly Proof[]>>

/** What an event must have at least. */
type Expected = { readonly type: DexEvent['type']; readonly [field: string]: unknown }
type Proof = {
  readonly transaction: () => SolanaTransaction
  /** In order of the instruction's logs; undefined for one that is not decoded. */
  readonly events: readonly (Expected | undefined)[]
  readonly isReal: boolean
  /** The tag of an instruction without a name that is hashed. */
  readonly tag?: number
}

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')
const UNPROVED = readFileSync(new URL('../../../docs/add-a-dex.md', import.meta.url), 'utf8')

let recorded: ReadonlyMap<string, SolanaTransaction> | undefined

/** A recorded transaction with this signature, and the events of the instruction in it. */
export function real(signature: string, ...events: readonly Expected[]): Proof {
  const transaction = (): SolanaTransaction => {
    recorded ??= new Map(
      allSolanaTransactions().map((each) => [each.transaction.signature, each.transaction]),
    )
    const found = recorded.get(signature)
    assert.ok(found !== undefined, `${signature} is not recorded`)
    return found
  }
  return { transaction, events, isReal: true }
}

/** Places of accounts in a synthetic instruction, which has `of` of them. */
export type Places = {
  readonly of: number
  readonly pool?: number
  readonly user?: number
  readonly vaults?: readonly [number, number]
  readonly mints?: readonly [number, number]
  readonly named?: Readonly<Record<number, string>>
}

export const [POOL, USER, MINT0, MINT1] = sortedKeys()
const [VAULT0, VAULT1] = [keyOf('vault 0'), keyOf('vault 1')]

/** Programs sort mints by their bytes. */
function sortedKeys(): [string, string, string, string] {
  const [a, b] = [keyOf('mint a'), keyOf('mint b')]
  const isInOrder =
    Buffer.compare(
      createHash('sha256').update('mint a').digest(),
      createHash('sha256').update('mint b').digest(),
    ) < 0
  return [keyOf('pool'), keyOf('user'), isInOrder ? a : b, isInOrder ? b : a]
}

/** Tokens that the two vaults receive, or pay if negative. */
type Flow = readonly [bigint, bigint]
const ACTIONS = {
  swap: { flow: [100n, -50n], event: { type: 'swapped', pool: POOL, delta0: 100n, delta1: -50n } },
  add: { flow: [100n, 50n], event: { type: 'liquidityAdded', pool: POOL } },
  remove: { flow: [-100n, -50n], event: { type: 'liquidityRemoved', pool: POOL } },
  create: { flow: [0n, 0n], event: { type: 'poolCreated', pool: POOL, tokens: [MINT0, MINT1] } },
  close: { flow: [0n, 0n], event: { type: 'curveClosed', pool: POOL } },
} as const satisfies Record<string, { flow: Flow; event: Expected }>

type SyntheticOptions = {
  /** Events that the program emits, each with its discriminator. */
  readonly emits?: readonly Uint8Array[]
  readonly flow?: Flow
  /** Instead of the event of the action. */
  readonly events?: readonly (Expected | undefined)[]
  /** Bytes behind the discriminator. */
  readonly args?: Uint8Array
  readonly tag?: number
}

/** A synthetic transaction: no real one is at hand. */
export function synthetic(
  action: keyof typeof ACTIONS,
  places: Places,
  options: SyntheticOptions = {},
): Proof & { readonly build: (program: string, is: SolanaProtocol, name: string) => SolanaTransaction } {
  const { flow, event } = ACTIONS[action]
  const who = places.user === undefined ? {} : action === 'swap' ? { recipient: USER } : { provider: USER }
  const isMoving = action === 'swap' || action === 'add' || action === 'remove'
  const events = options.events ?? [isMoving ? { ...event, ...who } : event]
  const build = (program: string, is: SolanaProtocol, name: string): SolanaTransaction =>
    builtTransaction(program, is, discriminatorOf(name, options.tag), places, {
      ...options,
      flow: options.flow ?? flow,
    })
  const transaction = (): never => assert.fail('built for its program')
  return { transaction, build, events, isReal: false, ...(options.tag !== undefined && { tag: options.tag }) }
}

function builtTransaction(
  program: string,
  { program: { eventsIn } }: SolanaProtocol,
  discriminator: string,
  { of, pool, user, vaults, mints, named = {} }: Places,
  { emits = [], flow = [0n, 0n], args = new Uint8Array() }: SyntheticOptions,
): SolanaTransaction {
  const accounts = Array.from({ length: of }, (_, place) => keyOf(`account ${place}`))
  const put = (place: number | undefined, key: string): void => {
    if (place !== undefined) accounts[place] = key
  }
  put(pool, POOL)
  put(user, USER)
  for (const [nth, key] of [VAULT0, VAULT1].entries()) put(vaults?.[nth], key)
  for (const [nth, key] of [MINT0, MINT1].entries()) put(mints?.[nth], key)
  for (const [place, key] of Object.entries(named)) put(Number(place), key)
  const builder = new TransactionBuilder(USER)
  builder.instruction(program, accounts, Buffer.concat([Buffer.from(discriminator, 'hex'), args]))
  builder.log(`Program ${program} invoke [1]`)
  for (const [nth, vault] of [VAULT0, VAULT1].entries()) {
    const [amount, mint] = [flow[nth] ?? 0n, [MINT0, MINT1][nth] as string]
    if (vaults === undefined) continue
    const own = keyOf(`user account ${nth}`)
    const [from, to] = amount > 0n ? [own, vault] : [vault, own]
    if (amount !== 0n) {
      const moved = amount > 0n ? amount : -amount
      builder.instruction(TOKEN_PROGRAM, [from, to, USER], tokenData(3, moved), 2)
      builder.balance(own, { mint, owner: USER }, 1_000n, 1_000n - amount)
    }
    builder.balance(vault, { mint, owner: POOL }, 1_000n, 1_000n + amount)
  }
  for (const event of emits) {
    if (eventsIn === 'calls')
      builder.instruction(program, [keyOf('event authority')], Buffer.concat([EVENT_TAG, event]), 2)
    else
      builder.log(
        `${eventsIn === 'ray_logs' ? 'Program log: ray_log' : 'Program data'}: ${Buffer.from(event).toString('base64')}`,
      )
  }
  builder.log(`Program ${program} success`)
  return builder.build()
}

function discriminatorOf(name: string, tag?: number): string {
  if (tag !== undefined) return Buffer.of(tag).toString('hex')
  return createHash('sha256').update(`global:${name}`).digest('hex').slice(0, 16)
}

/** An event's discriminator is the hash of its name. */
export function eventOf(name: string, ...fields: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([createHash('sha256').update(`event:${name}`).digest().subarray(0, 8), ...fields])
}

/** Tests that each instruction decodes as its evidence shows, and that the table has all instructions of the program. */
export function proveProgram(protocol: string, source: string, evidence: Evidence): void {
  const is = SOLANA_PROTOCOLS[protocol] as SolanaProtocol
  const deployments = SOLANA_DEPLOYMENTS.filter((each) => each.protocol === protocol)
  const programs = knownPrograms(deployments)
  const [program] = programs.keys() as MapIterator<string>
  const ids = new Set(programs.keys())
  const decode = (log: RawLog): DexEvent | undefined => {
    const topic = log.topics[0] ?? ''
    return is.announcements[topic]?.(log) ?? is.events[topic]?.(log)
  }
  const logsOf = (transaction: SolanaTransaction): RawLog[] =>
    rawLogsOf(transaction, programs, 0).filter(({ address }) => ids.has(address))

  describe(`${protocol}: ${source}`, () => {
    for (const [name, proofs] of Object.entries(evidence)) {
      for (const proof of [proofs].flat()) {
        const topic = `0x${discriminatorOf(name, proof.tag)}`
        const isOwn = ({ topics }: RawLog): boolean => topics[0]?.startsWith(topic) ?? false
        test(`${name} (${proof.isReal ? 'real' : 'synthetic'})`, {
          skip: proof.isReal && !hasSolanaRecordings,
        }, () => {
          const transaction =
            'build' in proof
              ? (proof as ReturnType<typeof synthetic>).build(program as string, is, name)
              : proof.transaction()
          const logs = logsOf(transaction).filter(isOwn)
          const events = logs.map(decode)
          // A real transaction may use other pools beside it.
          const pools = new Set(proof.events.map((each) => each?.['pool']))
          const own = proof.isReal ? events.filter((each) => pools.has(each?.pool)) : events
          assert.equal(own.length, proof.events.length, JSON.stringify(logs.map(({ topics }) => topics)))
          for (const [nth, expected] of proof.events.entries()) {
            if (expected === undefined) assert.equal(own[nth], undefined)
            else assert.partialDeepStrictEqual(own[nth], expected)
          }
          assert.deepEqual(
            logsOf({ ...transaction, isFailed: true }),
            [],
            'a failed transaction yields nothing',
          )
          for (const log of logs) spoil(log, decode)
          if (!proof.isReal)
            assert.ok(UNPROVED.includes(`\`${name}\``), `docs/add-a-dex.md does not list ${name} as unproved`)
        })
      }
    }

    test('the table has every instruction that is decoded', () => {
      const topics = [...Object.keys(is.announcements), ...Object.keys(is.events)]
      const bytes = 2 + is.program.discriminatorBytes * 2
      const decoded = new Set(topics.map((topic) => topic.slice(0, bytes)))
      const proved = Object.entries(evidence).map(
        ([name, proofs]) => `0x${discriminatorOf(name, [proofs].flat()[0]?.tag)}`,
      )
      assert.deepEqual(proved.sort(), [...decoded].sort())
    })
  })
}

/** A record that is cut, extended or of another version is not decoded. */
function spoil(log: RawLog, decode: (log: RawLog) => DexEvent | undefined): void {
  const { data } = log
  const cut = [data.subarray(0, data.length - 1), data.subarray(0, data.length >> 1), new Uint8Array()]
  const other = Uint8Array.from(data)
  other[0] = 0xee
  for (const spoiled of [...cut, Buffer.concat([data, Uint8Array.of(0)]), other])
    assert.equal(decode({ ...log, data: spoiled }), undefined)
}
