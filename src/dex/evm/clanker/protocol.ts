import type { Protocol } from '../../protocol.ts'
import { launchPlatform, tokenLaunches } from '../launch-events.ts'

/** TokenCreated(address tokenAddress, uint256 lpNftId, address deployer, string name, string symbol, uint256 supply, uint256 _supply, address lockerAddress) */
const TOKEN_CREATED_V0 = '0xcd465acec733178787a0c3bc8cd8f6eae657c45b61c6a3e15d13c176c9c536ad'
/** TokenCreated(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name, string symbol, uint256 supply, address lockerAddress, string castHash) */
const TOKEN_CREATED_V1 = '0x0e9d60e5c5597233717659e7b39411e0a61e7177252521b9c6f515f75f6fef01'
/** TokenCreated(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name, string symbol, uint256 supply, string castHash) */
const TOKEN_CREATED_V3 = '0x8df367d10c042c43a79f6842addf298c4b250b4cb2145cae311c9ba110ff8e17'
/**
 * TokenCreated(address indexed tokenAddress, address indexed creatorAdmin, address indexed interfaceAdmin, address
 * creatorRewardRecipient, address interfaceRewardRecipient, uint256 positionId, string name, string symbol, int24
 * startingTickIfToken0IsNewToken, string metadata, uint256 amountTokensBought, uint256 vaultDuration, uint8
 * vaultPercentage, address msgSender)
 */
const TOKEN_CREATED_V3_1 = '0x6b04d68ca5c822b9c981d731c83ecb1356b96c8596c7659d397d234856a4537b'
/**
 * TokenCreated(address msgSender, address indexed tokenAddress, address indexed tokenAdmin, string tokenImage, string
 * tokenName, string tokenSymbol, string tokenMetadata, string tokenContext, int24 startingTick, address poolHook,
 * bytes32 poolId, address pairedToken, address locker, address mevModule, uint256 extensionsSupply, address[]
 * extensions)
 */
const TOKEN_CREATED_V4 = '0x9299d1d1a88d8e1abdc591ae7a167a6bc63a8f17d695804e9091ee33aa89fb67'

/** Clanker: each token starts in a Uniswap pool (V3, since its version 4 V4) that the same transaction creates. */
export const clanker: Protocol = launchPlatform(
  tokenLaunches({
    [TOKEN_CREATED_V0]: { indexed: 0, token: 0, addresses: [2, 7], texts: [3, 4] },
    [TOKEN_CREATED_V1]: { indexed: 0, token: 0, addresses: [2, 7], texts: [4, 5, 8] },
    [TOKEN_CREATED_V3]: { indexed: 0, token: 0, addresses: [2], texts: [4, 5, 7] },
    [TOKEN_CREATED_V3_1]: { indexed: 3, token: 'indexed', addresses: [0, 1, 10], texts: [3, 4, 6] },
    [TOKEN_CREATED_V4]: {
      indexed: 2,
      token: 'indexed',
      addresses: [0, 7, 9, 10, 11],
      texts: [1, 2, 3, 4, 5],
      addressLists: [13],
    },
  }),
)
