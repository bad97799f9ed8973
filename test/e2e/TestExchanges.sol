// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Exchanges whose bytecode is not among the packages of this project. Each one emits the events of the real one, answers its calls
/// and, where these are read, has its storage slots. It holds real tokens, but the test computes what is traded.

interface IToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

abstract contract TokenHolder {
    function settle(address token, int256 delta) internal {
        if (delta > 0) IToken(token).transferFrom(msg.sender, address(this), uint256(delta));
        else if (delta < 0) IToken(token).transfer(msg.sender, uint256(-delta));
    }

    function after_(uint256 reserve, int256 delta) internal pure returns (uint256) {
        return uint256(int256(reserve) + delta);
    }

    function paidIn(int256 delta) internal pure returns (uint256) {
        return delta > 0 ? uint256(delta) : 0;
    }

    function paidOut(int256 delta) internal pure returns (uint256) {
        return delta < 0 ? uint256(-delta) : 0;
    }
}

/// A pool with a contract of its own.
abstract contract TestPool is TokenHolder {
    address public immutable token0;
    address public immutable token1;
    uint256 internal reserve0;
    uint256 internal reserve1;

    constructor(address a, address b) {
        (token0, token1) = a < b ? (a, b) : (b, a);
    }

    function reserves() external view returns (uint256, uint256) {
        return (reserve0, reserve1);
    }

    function move(int256 delta0, int256 delta1, bool isTrade) external {
        settle(token0, delta0);
        settle(token1, delta1);
        reserve0 = after_(reserve0, delta0);
        reserve1 = after_(reserve1, delta1);
        if (isTrade) traded(delta0, delta1);
    }

    function traded(int256 delta0, int256 delta1) internal virtual;

    function quoteOf(uint256 amount0) internal view returns (uint256) {
        return (amount0 * reserve1) / (reserve0 + amount0);
    }
}

abstract contract TestFactory {
    TestPool public last;

    function create(address a, address b) external {
        last = deploy(a, b);
        announce(last.token0(), last.token1(), address(last));
    }

    function deploy(address a, address b) internal virtual returns (TestPool);
    function announce(address token0, address token1, address pool) internal virtual;
}

contract TestSolidlyPool is TestPool {
    bool public immutable stable;

    event Sync(uint256 reserve0, uint256 reserve1);
    event Swap(
        address indexed sender,
        address indexed to,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out
    );

    constructor(address a, address b, bool stable_) TestPool(a, b) {
        stable = stable_;
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (reserve0, reserve1, block.timestamp);
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        require(tokenIn == token0, "only the first token is quoted");
        return quoteOf(amountIn);
    }

    function traded(int256 delta0, int256 delta1) internal override {
        emit Sync(reserve0, reserve1);
        emit Swap(msg.sender, msg.sender, paidIn(delta0), paidIn(delta1), paidOut(delta0), paidOut(delta1));
    }
}

contract TestSolidlyFactory is TestFactory {
    bool private immutable stable;

    event PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256);

    constructor(bool stable_) {
        stable = stable_;
    }

    function deploy(address a, address b) internal override returns (TestPool) {
        return new TestSolidlyPool(a, b, stable);
    }

    function announce(address token0, address token1, address pool) internal override {
        emit PoolCreated(token0, token1, stable, pool, 1);
    }
}

/// Slipstream, Algebra and PancakeSwap V3; a position over all prices.
contract TestConcentratedPool is TestPool {
    event Swap(
        address indexed sender,
        address indexed recipient,
        int256 amount0,
        int256 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick
    );
    event Swap(
        address indexed sender,
        address indexed recipient,
        int256 amount0,
        int256 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick,
        uint128 protocolFeesToken0,
        uint128 protocolFeesToken1
    );

    bool private immutable hasFees;

    constructor(address a, address b, bool hasFees_) TestPool(a, b) {
        hasFees = hasFees_;
    }

    function slot0() public view returns (uint160, int24, uint16, uint16, uint16, bool) {
        uint256 square = (reserve1 << 96) / reserve0;
        uint256 root = square;
        for (uint256 next = (square + 1) / 2; next < root; next = (square / next + next) / 2) root = next;
        return (uint160(root << 48), 0, 0, 1, 1, true);
    }

    function globalState() external view returns (uint160, int24, uint16, uint16, uint16, bool) {
        return slot0();
    }

    function traded(int256 delta0, int256 delta1) internal override {
        (uint160 root,,,,,) = slot0();
        if (hasFees) emit Swap(msg.sender, msg.sender, delta0, delta1, root, 1, 0, 0, 0);
        else emit Swap(msg.sender, msg.sender, delta0, delta1, root, 1, 0);
    }
}

contract TestSlipstreamFactory is TestFactory {
    event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool);

    function deploy(address a, address b) internal override returns (TestPool) {
        return new TestConcentratedPool(a, b, false);
    }

    function announce(address token0, address token1, address pool) internal override {
        emit PoolCreated(token0, token1, 100, pool);
    }
}

contract TestAlgebraFactory is TestFactory {
    event Pool(address indexed token0, address indexed token1, address pool);

    function deploy(address a, address b) internal override returns (TestPool) {
        return new TestConcentratedPool(a, b, false);
    }

    function announce(address token0, address token1, address pool) internal override {
        emit Pool(token0, token1, pool);
    }
}

contract TestPancakeV3Factory is TestFactory {
    event PoolCreated(
        address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool
    );

    function deploy(address a, address b) internal override returns (TestPool) {
        return new TestConcentratedPool(a, b, true);
    }

    function announce(address token0, address token1, address pool) internal override {
        emit PoolCreated(token0, token1, 2500, 50, pool);
    }
}

contract TestCurvePool is TestPool {
    event TokenExchange(
        address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought
    );

    constructor(address a, address b) TestPool(a, b) {}

    function balances(uint256 coin) external view returns (uint256) {
        return coin == 0 ? reserve0 : reserve1;
    }

    function get_dy(int128 i, int128 j, uint256 dx) external view returns (uint256) {
        require(i == 0 && j == 1, "only the first coin is quoted");
        return quoteOf(dx);
    }

    function traded(int256 delta0, int256 delta1) internal override {
        if (delta0 > 0) emit TokenExchange(msg.sender, 0, uint256(delta0), 1, uint256(-delta1));
        else emit TokenExchange(msg.sender, 1, uint256(delta1), 0, uint256(-delta0));
    }
}

/// Announces nothing: its pools are found by their coins.
contract TestCurveFactory is TestFactory {
    mapping(address => mapping(address => address)) private pools;

    function find_pool_for_coins(address from, address to, uint256 index) external view returns (address) {
        return index == 0 ? pools[from][to] : address(0);
    }

    function get_coins(address pool) external view returns (address[4] memory coins) {
        if (pool.code.length == 0) return coins;
        (coins[0], coins[1]) = (TestPool(pool).token0(), TestPool(pool).token1());
        if (pools[coins[0]][coins[1]] != pool) delete coins;
    }

    function deploy(address a, address b) internal override returns (TestPool) {
        return new TestCurvePool(a, b);
    }

    function announce(address token0, address token1, address pool) internal override {
        (pools[token0][token1], pools[token1][token0]) = (pool, pool);
    }
}

/// One bin, and a price that the test gives.
contract TestLBPair is TestPool {
    uint24 public getActiveId;

    event Swap(
        address indexed sender,
        address indexed to,
        uint24 id,
        bytes32 amountsIn,
        bytes32 amountsOut,
        uint24 volatilityAccumulator,
        bytes32 totalFees,
        bytes32 protocolFees
    );

    constructor(address a, address b) TestPool(a, b) {}

    function setBin(uint24 id) external {
        getActiveId = id;
    }

    function getReserves() external view returns (uint128, uint128) {
        return (uint128(reserve0), uint128(reserve1));
    }

    function getProtocolFees() external pure returns (uint128, uint128) {
        return (0, 0);
    }

    function traded(int256 delta0, int256 delta1) internal override {
        bytes32 amountsIn = bytes32((paidIn(delta1) << 128) | paidIn(delta0));
        bytes32 amountsOut = bytes32((paidOut(delta1) << 128) | paidOut(delta0));
        emit Swap(msg.sender, msg.sender, getActiveId, amountsIn, amountsOut, 0, 0, 0);
    }
}

contract TestLBFactory is TestFactory {
    event LBPairCreated(
        address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address LBPair, uint256 pid
    );

    function deploy(address a, address b) internal override returns (TestPool) {
        return new TestLBPair(a, b);
    }

    function announce(address token0, address token1, address pool) internal override {
        emit LBPairCreated(token0, token1, 25, pool, 0);
    }
}

/// One contract that holds all pools.
abstract contract TestVault is TokenHolder {
    struct Held {
        address token0;
        address token1;
        uint256 reserve0;
        uint256 reserve1;
    }

    mapping(bytes32 => Held) internal held;
    bytes32 public last;

    function reservesOf(bytes32 id) external view returns (uint256, uint256) {
        return (held[id].reserve0, held[id].reserve1);
    }

    function hold(bytes32 id, address a, address b) internal {
        last = id;
        (held[id].token0, held[id].token1) = a < b ? (a, b) : (b, a);
    }

    function move(bytes32 id, int256 delta0, int256 delta1, bool isTrade) external {
        Held storage pool = held[id];
        settle(pool.token0, delta0);
        settle(pool.token1, delta1);
        pool.reserve0 = after_(pool.reserve0, delta0);
        pool.reserve1 = after_(pool.reserve1, delta1);
        moved(id, delta0, delta1, isTrade);
    }

    function moved(bytes32 id, int256 delta0, int256 delta1, bool isTrade) internal virtual;

    function listOf(bytes32 id) internal view returns (address[] memory tokens, uint256[] memory balances) {
        tokens = new address[](2);
        balances = new uint256[](2);
        (tokens[0], tokens[1]) = (held[id].token0, held[id].token1);
        (balances[0], balances[1]) = (held[id].reserve0, held[id].reserve1);
    }
}

contract TestWeightedPool {
    bytes32 public getPoolId;

    constructor() {
        getPoolId = bytes32(bytes20(address(this)));
    }

    function getNormalizedWeights() external pure returns (uint256[] memory weights) {
        weights = new uint256[](2);
        (weights[0], weights[1]) = (5e17, 5e17);
    }
}

contract TestBalancerV2Vault is TestVault {
    event TokensRegistered(bytes32 indexed poolId, address[] tokens, address[] assetManagers);
    event Swap(
        bytes32 indexed poolId,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 amountIn,
        uint256 amountOut
    );

    function create(address a, address b) external {
        bytes32 id = new TestWeightedPool().getPoolId();
        hold(id, a, b);
        (address[] memory tokens,) = listOf(id);
        emit TokensRegistered(id, tokens, new address[](2));
    }

    function getPoolTokens(bytes32 id) external view returns (address[] memory, uint256[] memory, uint256) {
        (address[] memory tokens, uint256[] memory balances) = listOf(id);
        return (tokens, balances, block.number);
    }

    function moved(bytes32 id, int256 delta0, int256 delta1, bool isTrade) internal override {
        if (!isTrade) return;
        Held storage pool = held[id];
        if (delta0 > 0) emit Swap(id, pool.token0, pool.token1, uint256(delta0), uint256(-delta1));
        else emit Swap(id, pool.token1, pool.token0, uint256(delta1), uint256(-delta0));
    }
}

contract TestBalancerV3Vault is TestVault {
    struct TokenConfig {
        address token;
        uint8 tokenType;
        address rateProvider;
        bool paysYieldFees;
    }

    struct PoolRoleAccounts {
        address pauseManager;
        address swapFeeManager;
        address poolCreator;
    }

    struct HooksConfig {
        bool[11] flags;
        address hooksContract;
    }

    /// PoolRegistered, whose last parameters are not of interest here.
    bytes32 private constant POOL_REGISTERED = 0xbc1561eeab9f40962e2fb827a7ff9c7cdb47a9d7c84caeefa4ed90e043842dad;

    event Swap(
        address indexed pool,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 amountIn,
        uint256 amountOut,
        uint256 swapFeePercentage,
        uint256 swapFeeAmount
    );

    function create(address a, address b) external {
        bytes32 id = new TestWeightedPool().getPoolId();
        hold(id, a, b);
        TokenConfig[] memory configs = new TokenConfig[](2);
        (configs[0].token, configs[1].token) = (held[id].token0, held[id].token1);
        PoolRoleAccounts memory roles;
        HooksConfig memory hooks;
        bytes memory data = abi.encode(configs, 1e15, uint32(0), roles, hooks, false, false, false, false);
        bytes32 pool = bytes32(uint256(id) >> 96);
        assembly {
            log3(add(data, 32), mload(data), POOL_REGISTERED, pool, address())
        }
    }

    function getPoolTokenInfo(address pool)
        external
        view
        returns (address[] memory tokens, uint256[2][] memory info, uint256[] memory raw, uint256[] memory scaled)
    {
        (tokens, raw) = listOf(bytes32(bytes20(pool)));
        info = new uint256[2][](2);
        scaled = raw;
    }

    function moved(bytes32 id, int256 delta0, int256 delta1, bool isTrade) internal override {
        if (!isTrade) return;
        Held storage pool = held[id];
        address at = address(bytes20(id));
        if (delta0 > 0) emit Swap(at, pool.token0, pool.token1, uint256(delta0), uint256(-delta1), 0, 0);
        else emit Swap(at, pool.token1, pool.token0, uint256(delta1), uint256(-delta0), 0, 0);
    }
}

/// The slots of PancakeSwap Infinity's CLPoolManager.
abstract contract CLSlots {
    struct Tick {
        uint128 liquidityGross;
        int128 liquidityNet;
        uint256 feeGrowthOutside0X128;
        uint256 feeGrowthOutside1X128;
    }

    struct State {
        uint256 slot0;
        uint256 feeGrowthGlobal0X128;
        uint256 feeGrowthGlobal1X128;
        uint128 liquidity;
        mapping(int24 => Tick) ticks;
        mapping(int16 => uint256) tickBitmap;
    }

    uint256[4] private before;
    mapping(bytes32 => State) internal pools;
}

/// The slots of its BinPoolManager.
abstract contract BinSlots {
    struct State {
        uint256 slot0;
        mapping(uint256 => uint256) reserveOfBin;
        mapping(uint256 => uint256) shareOfBin;
        mapping(bytes32 => uint256) positions;
        uint256 level0;
        mapping(uint256 => uint256) level1;
        mapping(uint256 => uint256) level2;
    }

    uint256[5] private before;
    mapping(bytes32 => State) internal pools;
}

abstract contract InfinityVault is TestVault {
    function extsload(bytes32[] calldata slots) external view returns (bytes32[] memory values) {
        values = new bytes32[](slots.length);
        for (uint256 at = 0; at < slots.length; at++) {
            bytes32 slot = slots[at];
            bytes32 value;
            assembly {
                value := sload(slot)
            }
            values[at] = value;
        }
    }

    function open(address a, address b, bytes32 parameters) internal returns (bytes32 id, address, address) {
        (address token0, address token1) = a < b ? (a, b) : (b, a);
        id = keccak256(abi.encode(token0, token1, address(0), address(this), uint24(0), parameters));
        hold(id, a, b);
        return (id, token0, token1);
    }
}

contract TestCLPoolManager is CLSlots, InfinityVault {
    int24 private constant SPACING = 60;

    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        address hooks,
        uint24 fee,
        bytes32 parameters,
        uint160 sqrtPriceX96,
        int24 tick
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick,
        uint24 fee,
        uint16 protocolFee
    );

    function create(address a, address b, uint160 root, int24 tick) external {
        bytes32 parameters = bytes32(uint256(uint24(SPACING)) << 16);
        (bytes32 id, address token0, address token1) = open(a, b, parameters);
        setPrice(id, root, tick);
        emit Initialize(id, token0, token1, address(0), 0, parameters, root, tick);
    }

    function setPrice(bytes32 id, uint160 root, int24 tick) public {
        pools[id].slot0 = (uint256(uint24(tick)) << 160) | root;
    }

    function slot0(bytes32 id) external view returns (uint160 sqrtPriceX96) {
        return uint160(pools[id].slot0);
    }

    function addRange(bytes32 id, int24 lower, int24 upper, uint128 liquidity) external {
        State storage pool = pools[id];
        pool.liquidity = liquidity;
        pool.ticks[lower] = Tick(liquidity, int128(liquidity), 0, 0);
        pool.ticks[upper] = Tick(liquidity, -int128(liquidity), 0, 0);
        for (uint256 at = 0; at < 2; at++) {
            int24 place = (at == 0 ? lower : upper) / SPACING;
            pool.tickBitmap[int16(place >> 8)] ^= 1 << uint8(uint24(place & 255));
        }
    }

    function moved(bytes32 id, int256 delta0, int256 delta1, bool isTrade) internal override {
        if (!isTrade) return;
        State storage pool = pools[id];
        int24 tick = int24(uint24(pool.slot0 >> 160));
        emit Swap(id, msg.sender, int128(-delta0), int128(-delta1), uint160(pool.slot0), pool.liquidity, tick, 0, 0);
    }
}

contract TestBinPoolManager is BinSlots, InfinityVault {
    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        address hooks,
        uint24 fee,
        bytes32 parameters,
        uint24 activeId
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint24 activeId,
        uint24 fee,
        uint16 protocolFee
    );

    function binOf(bytes32 id) external view returns (uint24) {
        return uint24(pools[id].slot0);
    }

    function create(address a, address b, uint24 bin) external {
        bytes32 parameters = bytes32(uint256(25) << 16);
        (bytes32 id, address token0, address token1) = open(a, b, parameters);
        pools[id].slot0 = bin;
        emit Initialize(id, token0, token1, address(0), 0, parameters, bin);
    }

    function moved(bytes32 id, int256 delta0, int256 delta1, bool isTrade) internal override {
        State storage pool = pools[id];
        uint256 bin = pool.slot0;
        pool.reserveOfBin[bin] = (held[id].reserve1 << 128) | held[id].reserve0;
        pool.level0 |= 1 << (bin >> 16);
        pool.level1[bin >> 16] |= 1 << ((bin >> 8) & 255);
        pool.level2[bin >> 8] |= 1 << (bin & 255);
        if (isTrade) emit Swap(id, msg.sender, int128(-delta0), int128(-delta1), uint24(bin), 0, 0);
    }
}
