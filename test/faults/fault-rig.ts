import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { Scenario } from '../e2e/scenario.ts'

export type NodeBlock = { readonly number: string; readonly hash: string; readonly timestamp: string }
export type NodeLog = {
  readonly blockHash: string
  readonly blockNumber: string
  readonly transactionHash: string
  readonly logIndex: string
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Two Uniswap V2 pools on a real node, and a real log; all readers of a file follow the same chain. */
export class FaultRig {
  readonly stack: Stack
  readonly scenario: Scenario
  #mining: Promise<void> = Promise.resolve()

  private constructor(stack: Stack, scenario: Scenario) {
    this.stack = stack
    this.scenario = scenario
  }

  static async start(): Promise<FaultRig> {
    const stack = await startStack({
      services: ['nats', 'anvil'],
      anvil: ['--no-mining', '--timestamp', '1750000000'],
    })
    const scenario = await Scenario.deploy(stack.rpcUrl)
    const rig = new FaultRig(stack, scenario)
    await rig.trade(25)
    return rig
  }

  /** Mines blocks of swaps; gives the newest one's number. Tests run side by side, mining does not. */
  async trade(blocks: number): Promise<number> {
    const mining = this.#mining.then(async () => {
      for (let block = 0; block < blocks; block++) await this.scenario.tradeBlock()
    })
    this.#mining = mining
    await mining
    return (await this.scenario.market.head()).number
  }

  async blocks(from: number, to: number): Promise<NodeBlock[]> {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    return Promise.all(
      numbers.map(
        async (number) => (await this.ask('eth_getBlockByNumber', [hex(number), false])) as NodeBlock,
      ),
    )
  }

  /** Another way to ask for logs than the one the reader uses. */
  async logs(from: number, to: number): Promise<NodeLog[]> {
    return (await this.ask('eth_getLogs', [{ fromBlock: hex(from), toBlock: hex(to) }])) as NodeLog[]
  }

  async ask(method: string, params: readonly unknown[], url = this.stack.rpcUrl): Promise<unknown> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  stop(): Promise<void> {
    return this.stack.stop()
  }
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
