import type { ChainSettings } from '../../../src/domain/chain-settings.ts'
import type { BlockEnvelope, BlockRef, Envelope, Fact, RawLog } from '../../../src/domain/envelope.ts'
import type { Random } from '../../fuzz/random.ts'
import { creationLog, randomLog } from './pool-logs.ts'
import type { SimPool } from './protocol-logs/pool-kind.ts'
import { CHAIN, type SimMarket } from './sim-market.ts'
import { randomAnswer, randomMove, randomPast, randomSample } from './token-moves.ts'

type Branch = readonly BlockEnvelope[]

const FIRST_TIME = 1_699_999_990
const REMEMBERED_TIPS = 6

/**
 * The log of a reader of a random chain that forks: each fact once per branch, nothing undone below what
 * is final. A branch that was left may win again, block for block.
 */
export class BlockLog {
  readonly envelopes: Envelope[] = []
  readonly #market: SimMarket
  readonly #random: Random
  /** Draws the settings, so that blocks do not depend on them. */
  readonly #settingsRandom: Random
  #settings: ChainSettings | undefined
  /** The settings in force when a block was last appended, by hash. */
  readonly #appendedUnder = new Map<string, ChainSettings | undefined>()
  readonly #base: BlockRef
  #branch: Branch = []
  #former: Branch[] = []
  #final: number
  #mined = 0
  /** Up to this number blocks are old. */
  #lastOld: number

  constructor(market: SimMarket, random: Random, settingsRandom: Random) {
    this.#market = market
    this.#random = random
    this.#settingsRandom = settingsRandom
    const number = random.pick([0, 99, 12_345_678])
    this.#base = { number, hash: blockHash(0) }
    this.#final = number
    this.#lastOld = number + random.pick([0, 0, 4, 15])
    for (let left = random.between(8, 45); left > 0; left--) this.#happen()
    // A chain of nothing would prove nothing.
    if (this.#branch.length === 0) this.#mine(random.between(1, 3))
    // Only then are all documents published.
    this.#lastOld = number
    if (this.#branch.at(-1)?.isOld) this.#mine(1)
  }

  /** What is left once all undos are done: each block after the settings by which it was last read. */
  get canonical(): readonly Envelope[] {
    const all: Envelope[] = []
    let last: ChainSettings | undefined
    const change = (settings: ChainSettings | undefined): void => {
      if (settings === undefined || settings === last) return
      all.push({ kind: 'settings', chain: CHAIN, settings })
      last = settings
    }
    for (const block of this.#branch) {
      change(this.#appendedUnder.get(block.hash))
      all.push(block)
    }
    change(this.#settings)
    return all
  }

  get final(): BlockRef | undefined {
    const block = this.#branch.find(({ number }) => number === this.#final)
    return block === undefined ? undefined : ref(block)
  }

  #happen(): void {
    const random = this.#random
    if (this.#settingsRandom.chance(0.1)) this.#changeSettings()
    const roll = random.below(100)
    if (roll < 62) this.#mine(1)
    else if (roll < 76) this.#fork(random.between(1, 3))
    else if (roll < 81) this.#fork(random.between(4, 12))
    else if (roll < 89) this.#returnToFormer()
    else this.#finalise(random.below(random.pick([1, 4, 12])))
  }

  #mine(count: number): void {
    for (let mined = 0; mined < count; mined++) {
      const block = this.#nextBlock()
      this.#branch = [...this.#branch, block]
      this.#append(block)
    }
  }

  #append(block: BlockEnvelope): void {
    this.#appendedUnder.set(block.hash, this.#settings)
    this.envelopes.push(block)
  }

  /** Sometimes to the same again: a reader repeats them if a log has lost its tail. */
  #changeSettings(): void {
    const random = this.#settingsRandom
    const isSame = this.#settings !== undefined && random.chance(0.2)
    this.#settings = isSame ? this.#settings : this.#market.otherSettings(random)
    this.envelopes.push({ kind: 'settings', chain: CHAIN, settings: this.#settings as ChainSettings })
  }

  /** Undos may follow one another: what comes next need not be longer. */
  #fork(depth: number): void {
    const most = Math.min(depth, this.#tip.number - this.#final)
    if (most === 0) return
    this.#undoTo(this.#branch.slice(0, this.#branch.length - most))
    this.#mine(this.#random.below(most + 2))
  }

  #returnToFormer(): void {
    if (this.#former.length === 0) return
    const wanted = this.#random.pick(this.#former)
    let shared = 0
    while (shared < wanted.length && wanted[shared] === this.#branch[shared]) shared++
    if (shared < this.#branch.length) this.#undoTo(wanted.slice(0, shared))
    for (const block of wanted.slice(shared)) this.#append(block)
    this.#branch = wanted
  }

  /** Sometimes repeated, or for a block that was already final: readers restart. */
  #finalise(lag: number): void {
    const block = this.#branch.at(-1 - lag)
    if (block === undefined || (block.number <= this.#final && this.#random.chance(0.7))) return
    this.envelopes.push({ kind: 'final', chain: CHAIN, upTo: ref(block) })
    this.#final = Math.max(this.#final, block.number)
    const at = this.#final - this.#base.number - 1
    this.#former = this.#former.filter((branch) => branch[at] === this.#branch[at])
  }

  #undoTo(branch: Branch): void {
    this.#former = [...this.#former, this.#branch].slice(-REMEMBERED_TIPS)
    this.#branch = branch
    this.envelopes.push({ kind: 'undo', chain: CHAIN, lastValid: this.#tip })
  }

  get #tip(): BlockRef {
    const block = this.#branch.at(-1)
    return block === undefined ? this.#base : ref(block)
  }

  #nextBlock(): BlockEnvelope {
    const random = this.#random
    const transactions: { index: number; hash: string; from: string; logs: RawLog[] }[] = []
    const used: SimPool[] = []
    this.#mined += 1
    const count = random.below(random.pick([2, 5, 12]))
    for (let index = 0; index < count; index++) {
      const pool = random.pick(this.#market.pools)
      const isMove = random.chance(0.3)
      const log = (random.chance(0.1) ? creationLog(random, pool) : undefined) ?? randomLog(random, pool)
      const logs = isMove ? randomMove(random, random.pick(this.#market.movable)) : [log]
      if (!isMove) used.push(pool)
      if (transactions.length === 0 || random.chance(0.5)) {
        const at = transactions.length * 2
        transactions.push({
          index: at,
          hash: blockHash(this.#mined * 1_000 + at),
          from: log.address,
          logs: [],
        })
      }
      for (const [at, each] of logs.entries())
        transactions.at(-1)?.logs.push({ ...each, index: index * 3 + at })
    }
    const published = new Set(this.#branch.flatMap(({ facts }) => facts.map(({ address }) => address)))
    // A reader identifies pools again after their exchange was away.
    if (this.#settings !== undefined && this.#settingsRandom.chance(0.1))
      for (const { address } of used) published.delete(address)
    const seconds = random.pick([0, 1, 12, 12, 59, 300, 86_400, 700_000])
    const number = this.#tip.number + 1
    const block: BlockEnvelope = {
      kind: 'block',
      chain: CHAIN,
      number,
      hash: blockHash(this.#mined),
      parentHash: this.#tip.hash,
      time: (this.#branch.at(-1)?.time ?? FIRST_TIME) + seconds,
      ...(number <= this.#lastOld && { isOld: true }),
      transactions,
      facts: this.#market.factsOf(
        used.filter((pool) => this.#isRead(pool)),
        published,
      ),
    }
    return { ...block, facts: [...block.facts, ...this.#factsOfHolders(block)] }
  }

  /** A reader does not identify pools of exchanges that its settings lack. */
  #isRead({ factory }: SimPool): boolean {
    const isKnown = (dexes: readonly { readonly factory: string }[]): boolean =>
      dexes.some((dex) => dex.factory === factory)
    return this.#settings === undefined || isKnown(this.#settings.dexes) || !isKnown(this.#market.deployments)
  }

  /** Older transfers that were read meanwhile, and a balance that was asked for. */
  #factsOfHolders(block: BlockEnvelope): Fact[] {
    const random = this.#random
    const past = random.chance(0.5) ? randomPast(random, this.#branch) : undefined
    const extended = past === undefined ? block : { ...block, facts: [...block.facts, past] }
    const { movable, settings } = this.#market
    const sample = random.chance(0.3)
      ? randomSample(random, [...this.#branch, extended], random.pick(movable), settings)
      : undefined
    const answer = random.chance(0.2) ? randomAnswer(random, random.pick(movable)) : undefined
    return [past, answer, sample].flatMap((fact) => fact ?? [])
  }
}

function ref({ number, hash }: BlockRef): BlockRef {
  return { number, hash }
}

function blockHash(value: number): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
