import { type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'
import { BlockMarket } from './block-market.ts'
import { CutProxy } from './cut-proxy.ts'

/** In one message. */
const MAX_BLOCKS = 100

/** A market with a history, a gateway that serves it, and the connections to it, which can be cut. */
export class ClientWorld {
  readonly market: BlockMarket
  readonly proxy: CutProxy
  readonly rig: GatewayWorld
  #gateway: Gateway

  private constructor(rig: GatewayWorld, market: BlockMarket, gateway: Gateway, proxy: CutProxy) {
    this.rig = rig
    this.market = market
    this.#gateway = gateway
    this.proxy = proxy
  }

  static async start(blocks: number): Promise<ClientWorld> {
    const rig = await GatewayWorld.start({ withHistory: true })
    const market = new BlockMarket(rig)
    await market.start()
    for (let left = blocks; left > 0; left -= MAX_BLOCKS) await market.grow(Math.min(left, MAX_BLOCKS))
    await rig.storeAll()
    const gateway = await rig.startGateway()
    return new ClientWorld(rig, market, gateway, await CutProxy.start(gateway.port))
  }

  /** A planned restart; `meanwhile` runs while there is no gateway. */
  async restartGateway(meanwhile: () => Promise<void>): Promise<void> {
    await this.#gateway.stop()
    await meanwhile()
    this.#gateway = await this.rig.startGateway()
    this.proxy.port = this.#gateway.port
  }

  async stop(): Promise<void> {
    await this.proxy.stop()
    await this.#gateway.stop()
    await this.rig.stop()
  }
}
