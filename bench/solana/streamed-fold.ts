import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SolanaFacts } from '../../src/chain/solana/facts/facts.ts'
import type { SolanaNode, SolanaNodes } from '../../src/chain/solana/rpc.ts'
import { decodeBlock } from '../../src/chain/solana/yellowstone/decode-block.ts'
import { decodeUpdate } from '../../src/chain/solana/yellowstone/update.ts'
import type { KnownFacts } from '../../src/chain/source.ts'
import { knownPrograms } from '../../src/dex/solana/protocols.ts'
import { rawLogsOf } from '../../src/dex/solana/raw-logs.ts'
import type { Fact, RawTransaction } from '../../src/domain/envelope.ts'
import { Engine } from '../../src/engine/engine.ts'
import { isCommitDue } from '../../src/roles/engine/commit-policy.ts'
import { openStateStore, type StateStore } from '../../src/store/lmdb/state-store.ts'
import { decodeChangeSet } from '../../src/wire/change-codec.ts'
import { encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { SOLANA_DEPLOYMENTS } from '../../test/support/recorded/solana-programs.ts'
import { SolanaEngine, solanaSettings } from '../../test/support/rigs/solana-engine.ts'
import { hashText } from './streamed-blocks.ts'

const CHAIN = 'solana'
const BLOCKS_PER_SECOND = 2.5
const FINAL_LAG = 32
const NATIVE = { name: 'Wrapped SOL', symbol: 'SOL', decimals: 9 }
const FIRST_TIME = 1_750_000_000

/** The way of a stream's message through reader and engine: its bytes, the bytes of BLOCKS, the fold, bytes of CHANGES. */
export class StreamedFold {
  readonly #programs = knownPrograms(SOLANA_DEPLOYMENTS)
  readonly #dir = mkdtempSync(join(tmpdir(), 'chaintape-bench-solana-'))
  readonly #store: StateStore = openStateStore({ dir: this.#dir, format: 'solana-bench' })
  readonly #engine = new Engine(solanaSettings, this.#store)
  readonly #known = new Set<string>()
  readonly #facts = new SolanaFacts(noAccounts, solanaSettings.registry, NATIVE)
  #number = 0
  #seq = 0
  #committedAt = performance.now()
  #last: Uint8Array = new Uint8Array()

  /** Meets every pool and token, as the reader does when they first occur. */
  introduce(messages: readonly Buffer[]): void {
    const finder = new SolanaEngine(() => ({ decimals: 6, supplyRaw: undefined }))
    for (const message of messages) {
      const transactions = this.#decode(message)
      const facts = finder.factsOf(
        transactions.flatMap(({ logs }) => logs),
        this.#number + 1,
      )
      for (const fact of facts) if ('address' in fact) this.#known.add(fact.address)
      this.#apply(transactions, facts)
    }
  }

  /** Returns the bytes of CHANGES. */
  async fold(message: Buffer): Promise<number> {
    const number = this.#number + 1
    const known: KnownFacts = {
      knowsPool: (address) => this.#known.has(address),
      knowsToken: (address) => this.#known.has(address),
    }
    const header = { number, hash: hashText(number), parentHash: hashText(number - 1), time: timeOf(number) }
    const { transactions, facts } = await this.#facts.gather(
      { ...header, slot: number, parentSlot: number - 1 } as typeof header,
      this.#decode(message),
      known,
    )
    this.#apply(transactions, facts)
    return this.#last.length
  }

  /** Trades in the CHANGES of the last block. */
  tradesInLast(): number {
    return decodeChangeSet(this.#last).changes.filter(({ type }) => type === 'trade').length
  }

  async close(): Promise<void> {
    await this.#store.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #decode(message: Buffer): readonly RawTransaction[] {
    const update = decodeUpdate(message)
    if (update.kind !== 'block') throw new Error('not a block')
    const logsOf = (transaction: Parameters<typeof rawLogsOf>[0], firstIndex: number) =>
      rawLogsOf(transaction, this.#programs, firstIndex)
    return decodeBlock(update.message, logsOf, () => undefined)?.transactions ?? []
  }

  #apply(transactions: readonly RawTransaction[], facts: readonly Fact[]): void {
    const number = ++this.#number
    const place = { number, hash: hashText(number), parentHash: hashText(number - 1), time: timeOf(number) }
    const block = encodeEnvelope({
      kind: 'block',
      chain: CHAIN,
      ...place,
      transactions: [...transactions],
      facts: [...facts],
    })
    this.#last = this.#engine.apply(block, ++this.#seq)
    if (number % FINAL_LAG === 0 && number > FINAL_LAG) {
      const upTo = { number: number - FINAL_LAG, hash: hashText(number - FINAL_LAG) }
      this.#engine.apply(encodeEnvelope({ kind: 'final', chain: CHAIN, upTo }), ++this.#seq)
    }
    if (!isCommitDue(this.#engine.uncommittedBytes, performance.now() - this.#committedAt)) return
    this.#store.commit(this.#engine.pending(), { epoch: 'bench', sequence: this.#seq, link: 0 })
    this.#engine.committed()
    this.#committedAt = performance.now()
  }
}

function timeOf(number: number): number {
  return FIRST_TIME + Math.floor(number / BLOCKS_PER_SECOND)
}

/** No account is there: pools of the recordings that no instruction proves stay unknown. */
const noAccounts: Pick<SolanaNodes, 'verified'> = {
  verified: (ask) =>
    ask({
      accounts: async (addresses: readonly string[]) => addresses.map(() => undefined),
    } as unknown as SolanaNode),
}
