import { type Address, encodeAbiParameters, keccak256 } from 'viem'
import type { DexEvent, TokenLaunched } from '../../../src/dex/events.ts'
import type { RawLog } from '../../../src/domain/envelope.ts'
import { inOrder, type Opinion, opinion, swapped } from './opinion.ts'

const NATIVE = `0x${'0'.repeat(40)}`

type Of = { token: string }
type Trade = Of & { account: string; amount: bigint; cost: bigint; offers: bigint; funds: bigint }
type TradeV1 = Of & { account: string; tokenAmount: bigint; etherAmount: bigint }
type FlapTrade = Of & { account: string; amount: bigint; eth: bigint; fee: bigint }

const curveOf = ({ address }: RawLog, token: string): string => {
  const both = [{ type: 'address' }, { type: 'address' }] as const
  return keccak256(encodeAbiParameters(both, [address as Address, token as Address]))
}

const closed = (pool: string): DexEvent => ({ type: 'curveClosed', pool })

const CREATED =
  'TokenCreate(address creator, address token, uint256 requestId, string name, string symbol, uint256 totalSupply, uint256 launchTime, uint256 launchFee)'
const TRADED =
  '(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee, uint256 offers, uint256 funds)'
const TRADED_V1 = '(address token, address account, uint256 tokenAmount, uint256 etherAmount'
const FLAP_TRADED =
  '(uint256 ts, address token, address account, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice)'

const tradeStop = opinion<Of>('TradeStop(address token)', ({ token }, log) => closed(curveOf(log, token)))

const traded =
  (sign: bigint) =>
  ({ token, account: recipient, amount, cost, offers, funds }: Trade, log: RawLog): DexEvent =>
    swapped(curveOf(log, token), -sign * amount, sign * cost, { recipient, reserves: [offers, funds] })

const tradedV1 =
  (sign: bigint) =>
  ({ token, account: recipient, tokenAmount, etherAmount }: TradeV1, log: RawLog): DexEvent =>
    swapped(curveOf(log, token), -sign * tokenAmount, sign * etherAmount, { recipient })

export const fourMeme: readonly Opinion[] = [
  opinion<Of>(CREATED, ({ token }, log) => ({ type: 'curveOpened', pool: curveOf(log, token) })),
  opinion(`TokenPurchase${TRADED}`, traded(1n)),
  opinion(`TokenSale${TRADED}`, traded(-1n)),
  tradeStop,
  opinion<{ base: string }>(
    'LiquidityAdded(address base, uint256 offers, address quote, uint256 funds)',
    ({ base }, log) => closed(curveOf(log, base)),
  ),
]

export const fourMemeV1: readonly Opinion[] = [
  opinion<Of>(CREATED, ({ token }, log) => {
    const pool = curveOf(log, token)
    return { type: 'poolCreated', pool, tokens: [token, NATIVE], pricing: { kind: 'trades' } }
  }),
  opinion(`TokenPurchase${TRADED_V1})`, tradedV1(1n)),
  opinion(`TokenSale${TRADED_V1})`, tradedV1(-1n)),
  opinion(`TokenPurchase${TRADED_V1}, uint256 fee)`, tradedV1(1n)),
  opinion(`TokenSale${TRADED_V1}, uint256 fee)`, tradedV1(-1n)),
  tradeStop,
]

export const flap: readonly Opinion[] = [
  opinion<Of>(
    'TokenCreated(uint256 ts, address creator, uint256 nonce, address token, string name, string symbol, string meta)',
    ({ token }, log) => ({ type: 'curveOpened', pool: curveOf(log, token) }),
  ),
  opinion<FlapTrade>(`TokenBought${FLAP_TRADED}`, ({ token, account: recipient, amount, eth, fee }, log) =>
    swapped(curveOf(log, token), -amount, eth - fee, { recipient }),
  ),
  opinion<FlapTrade>(`TokenSold${FLAP_TRADED}`, ({ token, account: recipient, amount, eth, fee }, log) =>
    swapped(curveOf(log, token), amount, -eth - fee, { recipient }),
  ),
  opinion<Of & { newProgress: bigint }>(
    'FlapTokenProgressChanged(address token, uint256 newProgress)',
    ({ token, newProgress }, log) => {
      const progressPpm = Number(newProgress / 10n ** 12n)
      return { type: 'curveProgressed', pool: curveOf(log, token), progressPpm }
    },
  ),
  opinion<Of>('LaunchedToDEX(address token, address pool, uint256 amount, uint256 eth)', ({ token }, log) =>
    closed(curveOf(log, token)),
  ),
]

type FPairSwap = { amount0In: bigint; amount0Out: bigint; amount1In: bigint; amount1Out: bigint }

export const virtuals: readonly Opinion[] = [
  opinion<{ tokenA: string; tokenB: string; pair: string }>(
    'PairCreated(address indexed tokenA, address indexed tokenB, address pair, uint256 count)',
    ({ tokenA, tokenB, pair: pool }) => {
      return { type: 'poolCreated', pool, tokens: [tokenA, tokenB], pricing: { kind: 'trades' } }
    },
  ),
  opinion<FPairSwap>(
    'Swap(uint256 amount0In, uint256 amount0Out, uint256 amount1In, uint256 amount1Out)',
    (swap, { address }) =>
      swapped(address, swap.amount0In - swap.amount0Out, swap.amount1In - swap.amount1Out),
  ),
  opinion<{ reserve0: bigint }>(
    'Mint(uint256 reserve0, uint256 reserve1)',
    ({ reserve0 }, { address: pool }) => {
      return { type: 'liquidityAdded', pool, provider: undefined, amounts: inOrder(reserve0, 0n) }
    },
  ),
]

export const virtualsLaunchpad: readonly Opinion[] = [
  opinion<Of & { agentToken: string }>(
    'Graduated(address indexed token, address agentToken)',
    ({ token, agentToken }) =>
      token === agentToken
        ? { type: 'tokenGraduated', token }
        : { type: 'tokenGraduated', token, successor: agentToken },
  ),
  opinion<Of>(
    'PrivatePoolDrained(address indexed token, address indexed recipient, uint256 assetAmount, uint256 tokenAmount)',
    ({ token }) => ({ type: 'curveDrained', token }),
  ),
]

const launched = (token: string): TokenLaunched => ({ type: 'tokenLaunched', token })

export const clanker: readonly Opinion[] = [
  '(address tokenAddress, uint256 lpNftId, address deployer, string name, string symbol, uint256 supply, uint256 _supply, address lockerAddress)',
  '(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name, string symbol, uint256 supply, address lockerAddress, string castHash)',
  '(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name, string symbol, uint256 supply, string castHash)',
  '(address indexed tokenAddress, address indexed creatorAdmin, address indexed interfaceAdmin, address creatorRewardRecipient, address interfaceRewardRecipient, uint256 positionId, string name, string symbol, int24 startingTickIfToken0IsNewToken, string metadata, uint256 amountTokensBought, uint256 vaultDuration, uint8 vaultPercentage, address msgSender)',
  '(address msgSender, address indexed tokenAddress, address indexed tokenAdmin, string tokenImage, string tokenName, string tokenSymbol, string tokenMetadata, string tokenContext, int24 startingTick, address poolHook, bytes32 poolId, address pairedToken, address locker, address mevModule, uint256 extensionsSupply, address[] extensions)',
].map((parameters) =>
  opinion<{ tokenAddress: string }>(`TokenCreated${parameters}`, ({ tokenAddress }) =>
    launched(tokenAddress),
  ),
)

const COIN_OF =
  '(address indexed caller, address indexed payoutRecipient, address indexed platformReferrer, address currency, string uri, string name, string symbol, address coin'
const POOL_KEY =
  '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks) poolKey, bytes32 poolKeyHash'

export const zora: readonly Opinion[] = [
  `CoinCreated${COIN_OF}, address pool, string version)`,
  `CoinCreatedV4${COIN_OF}, ${POOL_KEY}, string version)`,
  `CreatorCoinCreated${COIN_OF}, ${POOL_KEY}, string version)`,
  `TrendCoinCreated(address indexed caller, string symbol, address coin, ${POOL_KEY}, bytes poolConfig, string version)`,
].map((signature) => opinion<{ coin: string }>(signature, ({ coin }) => launched(coin)))
