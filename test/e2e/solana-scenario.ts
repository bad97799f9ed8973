import { Random } from '../fuzz/random.ts'
import {
  buyPump,
  buyPumpSwap,
  createPump,
  migratePump,
  pumpCurve,
  pumpMint,
  pumpPool,
  sellPump,
  sellPumpSwap,
} from '../support/builders/pump-transactions.ts'
import {
  buyLab,
  cpmmPool,
  createCpmm,
  createLab,
  labCurve,
  labMint,
  sellLab,
  swapCpmm,
} from '../support/builders/raydium-transactions.ts'
import { SOL, WRAPPED_SOL } from '../support/builders/solana-accounts.ts'
import { type BlockScript, DOLLAR, SolanaMarket } from '../support/rigs/solana-market.ts'

export const ALFA = { name: 'Alfa', symbol: 'ALFA' }
export const BRAVO = { name: 'Bravo', symbol: 'BRAVO' }
export const LETSGO = { name: 'Letsgo', symbol: 'LETSGO' }
export const LAB_GOAL = 85n * SOL

/** The mints and pools of the scenario by name. */
export const NAMES = {
  ...{ alfa: pumpMint(ALFA), alfaCurve: pumpCurve(ALFA), alfaPool: pumpPool(ALFA) },
  ...{ bravo: pumpMint(BRAVO), bravoCurve: pumpCurve(BRAVO) },
  ...{ letsgo: labMint(LETSGO), letsgoCurve: labCurve(LETSGO), dollarPool: cpmmPool(WRAPPED_SOL, DOLLAR) },
}

/** Two launches on Pump.fun, one of which graduates, one on LaunchLab, and recorded swaps of every program. */
export class SolanaScenario {
  readonly market: SolanaMarket
  readonly #random: Random

  constructor(market = new SolanaMarket(), seed = 5) {
    this.market = market
    this.#random = new Random(seed)
  }

  /** A price for SOL, and the launches. */
  open(): void {
    const { market } = this
    const [dealer, creator, other] = [market.wallet(0), market.wallet(1), market.wallet(2)]
    market.block((block) => {
      block.send(dealer, (script) =>
        createCpmm(
          script,
          { mint: WRAPPED_SOL, amount: 20_000n * SOL },
          { mint: DOLLAR, amount: 3_000_000n * 10n ** 6n },
        ),
      )
    })
    market.block((block) => this.#swapDollars(block))
    market.block((block) => {
      block.send(creator, (script) => {
        createPump(script, ALFA, block.time)
        // A creator often buys in the transaction of the launch.
        buyPump(script, ALFA, SOL, block.time)
      })
      block.send(other, (script) => createLab(script, LETSGO, LAB_GOAL))
    })
    market.block((block) => block.send(other, (script) => createPump(script, BRAVO, block.time)))
  }

  /** Blocks in which every market is traded, tokens change owners, and recorded transactions run. */
  trade(blocks: number, recordedPerBlock = 2): void {
    for (let block = 0; block < blocks; block++) this.tradeBlock(recordedPerBlock)
  }

  tradeBlock(recordedCount = 2): void {
    const gap = this.#random.chance(0.1) ? this.#random.between(20, 90) : this.#random.below(3)
    this.market.block((block) => {
      this.#swapDollars(block)
      this.#tradeAlfa(block)
      this.#tradeBravo(block)
      this.#tradeLetsgo(block)
      if (this.#random.chance(0.5)) this.#give(block)
      for (let nth = 0; nth < recordedCount; nth++) block.replay()
    }, gap)
  }

  /** The last purchase of ALFA, and in the next block its migration to PumpSwap. */
  graduate(): void {
    const { market } = this
    market.block((block) =>
      block.send(market.wallet(3), (script) => buyPump(script, ALFA, 1_000n * SOL, block.time)),
    )
    market.block((block) => block.send(market.wallet(4), (script) => migratePump(script, ALFA, block.time)))
  }

  #swapDollars(block: BlockScript): void {
    const { dollarPool } = NAMES
    const isSale = this.#random.chance(0.5)
    const [sold, amount] = isSale
      ? [WRAPPED_SOL, BigInt(this.#random.between(1, 40)) * SOL]
      : [DOLLAR, BigInt(this.#random.between(100, 6_000)) * 10n ** 6n]
    block.send(this.#trader(), (script) => swapCpmm(script, dollarPool, sold, amount))
  }

  #tradeAlfa(block: BlockScript): void {
    const { accounts } = this.market
    const hasPool = accounts.hasPool(NAMES.alfaPool)
    if (!hasPool && accounts.pool(NAMES.alfaCurve).isClosed) return
    const [buy, sell] = hasPool ? [buyPumpSwap, sellPumpSwap] : [buyPump, sellPump]
    this.#tradeToken(block, NAMES.alfa, {
      buy: (script, amount) => buy(script, ALFA, amount, block.time),
      sell: (script, amount) => sell(script, ALFA, amount, block.time),
    })
  }

  #tradeBravo(block: BlockScript): void {
    this.#tradeToken(block, NAMES.bravo, {
      buy: (script, amount) => buyPump(script, BRAVO, amount / 4n, block.time),
      sell: (script, amount) => sellPump(script, BRAVO, amount, block.time),
    })
  }

  #tradeLetsgo(block: BlockScript): void {
    this.#tradeToken(block, NAMES.letsgo, {
      buy: (script, amount) => buyLab(script, LETSGO, amount / 2n),
      sell: (script, amount) => sellLab(script, LETSGO, amount),
    })
  }

  #tradeToken(
    block: BlockScript,
    mint: string,
    { buy, sell }: Record<'buy' | 'sell', (script: Parameters<typeof buyLab>[0], amount: bigint) => void>,
  ): void {
    const trader = this.#trader()
    const { accounts } = this.market
    const held = accounts.amount(accounts.addressOf(trader, mint))
    if (held > 10n ** 9n && this.#random.chance(0.45)) {
      block.send(trader, (script) => sell(script, (held * BigInt(this.#random.between(1, 99))) / 100n))
      return
    }
    const lamports = BigInt(this.#random.between(1_000, 600_000)) * 1_003n
    block.send(trader, (script) => buy(script, lamports))
  }

  /** A transfer to another owner, or to a second account of the same one. */
  #give(block: BlockScript): void {
    const mint = this.#random.pick([NAMES.alfa, NAMES.bravo, NAMES.letsgo])
    const { accounts, wallets } = this.market
    const from = wallets.find((wallet) => accounts.amount(accounts.addressOf(wallet, mint)) > 1_000n)
    if (from === undefined) return
    const to = this.#random.pick(wallets)
    block.send(from, (script) => {
      const source = accounts.addressOf(from, mint)
      const destination = accounts.open(to, mint, to === from ? 1 : 0)
      script.transfer(source, destination, accounts.amount(source) / 3n)
    })
  }

  #trader(): string {
    return this.#random.pick(this.market.wallets.slice(3))
  }
}
