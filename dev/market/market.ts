import {
  type Abi,
  createPublicClient,
  createTestClient,
  createWalletClient,
  formatTransactionReceipt,
  type Hex,
  http,
  maxUint256,
  type RpcTransactionReceipt,
  type TransactionReceipt,
  toHex,
} from 'viem'
import { foundry } from 'viem/chains'
import {
  type Artifact,
  compile,
  uniswapV2Factory,
  uniswapV2Pair,
  uniswapV2Router,
  weth9,
} from './artifacts.ts'

export type TokenSpec = {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly supply: bigint
}

export type Call = {
  readonly to: Hex
  readonly abi: Abi
  readonly name: string
  readonly args: readonly unknown[]
  readonly value?: bigint
  readonly gas?: bigint
}

const DEADLINE = 2n ** 64n

const GAS = 3_000_000n

/**
 * A Uniswap V2 market on anvil, with the real bytecode. anvil must run with `--no-mining`: nothing happens
 * but what is mined here. The same calls give the same addresses, because the deployer is anvil's first
 * account and its nonce starts at zero.
 */
export class Market {
  readonly #public
  readonly #wallet
  readonly #test
  readonly owner: Hex
  readonly weth: Hex
  readonly factory: Hex
  readonly router: Hex
  readonly #tokenArtifact: Artifact

  private constructor(
    rpcUrl: string,
    owner: Hex,
    deployed: { weth: Hex; factory: Hex; router: Hex },
    token: Artifact,
  ) {
    const clients = connect(rpcUrl)
    this.#public = clients.public
    this.#wallet = clients.wallet
    this.#test = clients.test
    this.owner = owner
    this.weth = deployed.weth
    this.factory = deployed.factory
    this.router = deployed.router
    this.#tokenArtifact = token
  }

  static async deploy(rpcUrl: string): Promise<Market> {
    const clients = connect(rpcUrl)
    const [owner] = await clients.wallet.getAddresses()
    if (owner === undefined) throw new Error('the node offers no account')
    const deploy = (artifact: Artifact, args: readonly unknown[]) =>
      deployContract(clients, owner, artifact, args)
    const weth = await deploy(weth9, [])
    const factory = await deploy(uniswapV2Factory, [owner])
    const router = await deploy(uniswapV2Router, [factory, weth])
    return new Market(rpcUrl, owner, { weth, factory, router }, compile('TestToken'))
  }

  /** Deploys a contract in a block of its own. */
  deploy(artifact: Artifact, args: readonly unknown[]): Promise<Hex> {
    const clients = { public: this.#public, wallet: this.#wallet, test: this.#test }
    return deployContract(clients, this.owner, artifact, args)
  }

  /** Deploys a token, all of it owned by the market, and lets the router spend it. */
  async createToken(spec: TokenSpec): Promise<Hex> {
    const args = [spec.name, spec.symbol, spec.decimals, spec.supply]
    const token = await this.deploy(this.#tokenArtifact, args)
    await this.approve(token, this.router)
    await this.mine()
    return token
  }

  /** Creates (or adds to) the pool of a token and the native coin; needs mining. */
  addLiquidityNative(token: Hex, tokenRaw: bigint, nativeRaw: bigint): Promise<Hex> {
    const args = [token, tokenRaw, 0n, 0n, this.owner, DEADLINE]
    return this.send({ ...this.#routerCall('addLiquidityETH', args), value: nativeRaw })
  }

  buyWithNative(token: Hex, nativeRaw: bigint, from?: Hex): Promise<Hex> {
    const args = [0n, [this.weth, token], from ?? this.owner, DEADLINE]
    return this.send({ ...this.#routerCall('swapExactETHForTokens', args), value: nativeRaw }, from)
  }

  sellForNative(token: Hex, tokenRaw: bigint): Promise<Hex> {
    const args = [tokenRaw, 0n, [token, this.weth], this.owner, DEADLINE]
    return this.send(this.#routerCall('swapExactTokensForETH', args))
  }

  async pairOf(tokenA: Hex, tokenB: Hex): Promise<Hex> {
    const { abi } = uniswapV2Factory
    const args = [tokenA, tokenB]
    return (await this.#public.readContract({
      address: this.factory,
      abi,
      functionName: 'getPair',
      args,
    })) as Hex
  }

  /** Balance of the market's own account, unless another is given. */
  async balanceOf(token: Hex, holder: Hex = this.owner, block?: number): Promise<bigint> {
    const call = { to: token, abi: uniswapV2Pair.abi, name: 'balanceOf', args: [holder] }
    return (await this.read(call, block)) as bigint
  }

  nativeBalanceOf(holder: Hex, block: number): Promise<bigint> {
    return this.#public.getBalance({ address: holder, blockNumber: BigInt(block) })
  }

  /** Asks a contract, as of now or after a block. */
  read({ to, abi, name, args }: Call, block?: number): Promise<unknown> {
    const at = block === undefined ? {} : { blockNumber: BigInt(block) }
    return this.#public.readContract({ address: to, abi, functionName: name, args, ...at })
  }

  /** Lets a contract spend a token; needs mining. */
  approve(token: Hex, spender: Hex, from?: Hex): Promise<Hex> {
    return this.send(
      { to: token, abi: this.#tokenArtifact.abi, name: 'approve', args: [spender, maxUint256] },
      from,
    )
  }

  transfer(token: Hex, to: Hex, raw: bigint): Promise<Hex> {
    return this.send({ to: token, abi: this.#tokenArtifact.abi, name: 'transfer', args: [to, raw] })
  }

  /** Turns native coins into WETH; needs mining. */
  wrap(nativeRaw: bigint): Promise<Hex> {
    return this.send({ to: this.weth, abi: weth9.abi, name: 'deposit', args: [], value: nativeRaw })
  }

  accounts(): Promise<readonly Hex[]> {
    return this.#wallet.getAddresses()
  }

  /** Mines what is waiting into one block, at `time` (Unix seconds) if given. */
  async mine(time?: number): Promise<void> {
    if (time !== undefined) await this.#test.setNextBlockTimestamp({ timestamp: BigInt(time) })
    await this.#test.mine({ blocks: 1 })
  }

  /** Mines blocks with nothing in them, a second apart. */
  async mineMany(blocks: number): Promise<void> {
    // In portions: anvil answers only when all are mined, and the client does not wait for ever.
    for (let left = blocks; left > 0; left -= 200) {
      await this.#test.mine({ blocks: Math.min(left, 200), interval: 1 })
    }
  }

  /** Replaces the newest blocks by as many empty ones. */
  async reorganise(depth: number): Promise<void> {
    await this.#test.request({ method: 'anvil_reorg', params: [depth, []] } as never)
  }

  async head(): Promise<{ number: number; hash: Hex; time: number }> {
    const block = await this.#public.getBlock()
    return { number: Number(block.number), hash: block.hash, time: Number(block.timestamp) }
  }

  /** All receipts of a block, as the node returns them. */
  async receipts(number: number): Promise<TransactionReceipt[]> {
    const request = { method: 'eth_getBlockReceipts', params: [toHex(number)] } as never
    const receipts: RpcTransactionReceipt[] = await this.#public.request(request)
    return receipts.map((receipt) => formatTransactionReceipt(receipt))
  }

  async timeOf(number: number): Promise<number> {
    return Number((await this.#public.getBlock({ blockNumber: BigInt(number) })).timestamp)
  }

  /** Sends without waiting: the transaction waits to be mined. */
  async send(call: Call, from?: Hex): Promise<Hex> {
    const { to, abi, name, args, value, gas = GAS } = call
    return this.#wallet.writeContract({
      address: to,
      abi,
      functionName: name,
      args,
      account: from ?? this.owner,
      chain: foundry,
      // Fixed, because an estimate would not know of the transactions that wait to be mined.
      gas,
      ...(value === undefined ? {} : { value }),
    })
  }

  #routerCall(name: string, args: readonly unknown[]): Call {
    return { to: this.router, abi: uniswapV2Router.abi, name, args }
  }
}

type Clients = ReturnType<typeof connect>

function connect(rpcUrl: string) {
  const options = { chain: foundry, transport: http(rpcUrl), cacheTime: 0 } as const
  return {
    public: createPublicClient(options),
    wallet: createWalletClient(options),
    test: createTestClient({ ...options, mode: 'anvil' }),
  }
}

async function deployContract(
  clients: Clients,
  owner: Hex,
  artifact: Artifact,
  args: readonly unknown[],
): Promise<Hex> {
  const hash = await clients.wallet.deployContract({
    abi: artifact.abi,
    bytecode: artifact.bytecode,
    args,
    account: owner,
    chain: foundry,
    gas: 10_000_000n,
  })
  await clients.test.mine({ blocks: 1 })
  const receipt = await clients.public.getTransactionReceipt({ hash })
  if (receipt.status !== 'success' || !receipt.contractAddress) throw new Error(`deployment ${hash} failed`)
  return receipt.contractAddress
}
