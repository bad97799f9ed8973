import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import { type Action, ETHER } from '../market/actions.ts'
import { WALLETS } from '../market/market-state.ts'
import type { MarketScript } from '../market/script.ts'
import { freePorts } from '../servers/process.ts'
import { contractAt, deployments, type Exchanges, exchangesOf, tokenCreation } from './exchanges.ts'
import { type NumberedTransaction, SandboxNode, type Transaction } from './node.ts'
import { NodeGate } from './node-gate.ts'
import { Places, type SandboxPool, type SandboxToken } from './places.ts'
import { Transactions } from './transactions.ts'
import { Turns } from './turns.ts'

const ANVIL = [
  ...['--no-mining', '--accounts', `${WALLETS}`, '--balance', '10000000'],
  ...['--gas-limit', '1000000000', '--block-base-fee-per-gas', '1', '--disable-min-priority-fee'],
  // Signing and recovering the sender take a quarter of the node's time.
  '--auto-impersonate',
]

const STATES = 100

/** Arguments of a node whose only block has this time. */
export function originArguments(time: number): string[] {
  return ['--no-mining', '--accounts', '1', '--timestamp', `${time}`]
}

/**
 * Arguments of the sandbox's node. It continues the chain of another one, because anvil then computes no state roots: of its
 * own state it would hash everything in each block. It keeps the state of a few blocks: contract inspections read that of a recent one.
 */
export function anvilArguments(originUrl: string): string[] {
  const origin = [
    '--fork-url',
    originUrl,
    '--fork-block-number',
    '0',
    '--no-rate-limit',
    '--no-storage-caching',
  ]
  return [...ANVIL, '--prune-history', `${STATES}`, ...origin]
}

export type BlockRef = { readonly number: number; readonly time: number }

/** A block as the market meant it. */
export type MarketBlock = BlockRef & { readonly actions: readonly Action[] }

type PreparedBlock = {
  readonly time: number
  readonly actions: readonly Action[]
  readonly transactions: readonly NumberedTransaction[]
}

/** Everything that a fork brings back. */
type Checkpoint = {
  readonly snapshot: Hex
  readonly script: MarketScript
  readonly places: Places
  readonly nonces: ReadonlyMap<Hex, number>
  readonly blocks: number
  readonly head: BlockRef
}

const READ = parseAbi([
  'function balanceOf(address holder) view returns (uint256)',
  'function positions(uint256 position) view returns (uint256)',
])
/** The place of the liquidity among the words that describe a position. */
const LIQUIDITY_WORD = 7

/** The market of a script on a node: sends what the script intends, and mines it. */
export class SandboxChain {
  readonly node: SandboxNode
  /** The node for everyone else. */
  readonly gate: NodeGate
  readonly exchanges: Exchanges
  readonly accounts: readonly Hex[]
  /** Every block since the first, which creates the exchanges, without those that forks have replaced. */
  readonly blocks: MarketBlock[] = []
  head: BlockRef
  #script: MarketScript
  #places: Places
  #nonces: Map<Hex, number>

  private constructor(
    { node, gate }: Pick<SandboxChain, 'node' | 'gate'>,
    accounts: readonly Hex[],
    script: MarketScript,
    head: BlockRef,
  ) {
    const [deployer = '0x'] = accounts
    this.node = node
    this.gate = gate
    this.accounts = accounts
    this.exchanges = exchangesOf(deployer)
    this.head = head
    this.#script = script
    this.#places = new Places(this.exchanges)
    this.#nonces = new Map()
  }

  /** Creates the exchanges in the first block. */
  static async deploy(rpcUrl: string, script: MarketScript, time: number): Promise<SandboxChain> {
    const turns = new Turns()
    const node = new SandboxNode(rpcUrl, turns)
    const accounts = (await node.ask<Hex[]>('eth_accounts')).map((account) => account.toLowerCase() as Hex)
    const [port = 0] = await freePorts(1)
    const gate = await NodeGate.open(rpcUrl, port, turns)
    const chain = new SandboxChain({ node, gate }, accounts, script, { number: 0, time })
    const transactions = chain.#numbered(deployments(accounts[0] ?? '0x'))
    await chain.#mine([{ time, actions: [], transactions }])
    return chain
  }

  get tokens(): readonly SandboxToken[] {
    return [...this.#places.tokens.values()]
  }

  get pools(): readonly SandboxPool[] {
    return this.#places.pools
  }

  /** The next block of the market. */
  async step(time: number): Promise<MarketBlock> {
    await this.#mine([await this.#prepare(time)])
    return this.blocks.at(-1) as MarketBlock
  }

  /** Many blocks, so many seconds apart: while the node mines some, the next ones are prepared. */
  async steps(count: number, spacing: number, onBlock: () => void): Promise<void> {
    await this.node.ask('anvil_setBlockTimestampInterval', spacing)
    const runs = this.#runs(count, spacing)
    for (let next = await runs.next(); !next.done; ) {
      const [, upcoming] = await Promise.all([this.#mine(next.value, onBlock), runs.next()])
      next = upcoming
    }
  }

  /** From here on, blocks can be replaced by others. */
  async checkpoint(): Promise<Checkpoint> {
    return {
      snapshot: await this.node.ask<Hex>('evm_snapshot'),
      script: this.#script.branch(),
      places: this.#places.copy(),
      nonces: new Map(this.#nonces),
      blocks: this.blocks.length,
      head: this.head,
    }
  }

  /** A fork: all blocks since the checkpoint are gone, and the market continues another way. */
  async restore({ snapshot, script, places, nonces, blocks, head }: Checkpoint): Promise<void> {
    const orphaned = this.head.number - head.number
    const isRestored = await this.node.ask<boolean>('evm_revert', snapshot)
    if (!isRestored) throw new Error(`the node has lost its snapshot ${snapshot}`)
    this.#script = script.branch(orphaned)
    this.#places = places
    this.#nonces = new Map(nonces)
    this.blocks.length = blocks
    this.head = head
  }

  close(): void {
    this.gate.close()
    this.node.close()
  }

  #numbered(transactions: readonly Transaction[]): NumberedTransaction[] {
    return transactions.map((transaction) => {
      const nonce = this.#nonces.get(transaction.from) ?? 0
      this.#nonces.set(transaction.from, nonce + 1)
      return { ...transaction, nonce }
    })
  }

  async #prepare(time: number): Promise<PreparedBlock> {
    const actions = this.#script.nextBlock(time)
    const transactions: NumberedTransaction[] = []
    for (const action of actions) transactions.push(...this.#numbered(await this.#transactionsOf(action)))
    return { time, actions, transactions }
  }

  /** Blocks that the node can make in one call: only the first one has transactions. */
  async *#runs(count: number, spacing: number): AsyncGenerator<readonly PreparedBlock[], void, undefined> {
    const from = this.head.time
    let run: PreparedBlock[] = []
    for (let at = 1; at <= count; at++) {
      const block = await this.#prepare(from + at * spacing)
      if (run.length > 0 && block.transactions.length > 0) {
        yield run
        run = []
      }
      run.push(block)
    }
    if (run.length > 0) yield run
  }

  async #mine(run: readonly PreparedBlock[], onBlock: () => void = () => undefined): Promise<void> {
    const [first] = run
    if (first === undefined) return
    await this.node.send(first.transactions)
    await this.node.ask('evm_mine', { timestamp: numberToHex(first.time), blocks: run.length })
    for (const { time, actions } of run) {
      this.head = { number: this.head.number + 1, time }
      this.blocks.push({ ...this.head, actions })
      onBlock()
    }
  }

  async #transactionsOf(action: Action): Promise<Transaction[]> {
    const places = this.#places
    const encode = new Transactions(places, this.accounts)
    switch (action.type) {
      case 'createToken': {
        const { token } = action
        const creator = this.accounts[token.creator] ?? '0x'
        const creation = tokenCreation(creator, token, this.exchanges)
        const nonce = this.#nonces.get(creator) ?? 0
        places.tokens.set(token.coin, { ...token, address: contractAt(creator, nonce) })
        return [creation]
      }
      case 'transfer':
        return [encode.transfer(action)]
      case 'openPool':
        return encode.openPool(places.addPool(action.spec), action.baseRaw, action.quoteRaw)
      case 'openCurve': {
        places.addPool(action.spec)
        return [encode.openCurve(action.spec, places.tokens.get(action.spec.base)?.creator ?? ETHER)]
      }
      case 'resize': {
        const pool = places.poolOf(action.pool)
        return encode.resize(pool, action, await this.#liquidityOf(pool))
      }
      case 'swap': {
        if (action.graduatesTo !== undefined) places.addPool(action.graduatesTo)
        return [encode.swap(places.poolOf(action.pool), action)]
      }
    }
  }

  /** What the provider of a pool has, as of the last block. */
  async #liquidityOf({ venue, id, provider, position }: SandboxPool): Promise<bigint> {
    const isPair = venue === 'v2'
    const data = isPair
      ? encodeFunctionData({
          abi: READ,
          functionName: 'balanceOf',
          args: [this.accounts[provider ?? 0] ?? '0x'],
        })
      : encodeFunctionData({ abi: READ, functionName: 'positions', args: [position ?? 0n] })
    const to = isPair ? id : this.exchanges.v3Positions
    const words = (await this.node.ask<Hex>('eth_call', { to, data }, 'latest')).slice(2)
    const at = isPair ? 0 : LIQUIDITY_WORD * 64
    return BigInt(`0x${words.slice(at, at + 64)}`)
  }
}
