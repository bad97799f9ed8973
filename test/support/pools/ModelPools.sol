// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

interface IToken {
    function balanceOf(address holder) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
}

/// Models of exchanges whose bytecode is not published as a package: the functions that a trade calls, in the order and
/// with the checks of the originals, over a curve that is as simple as possible.
library Curve {
    /// Constant product, without a fee.
    function amountOut(uint256 amountIn, uint256 reserveIn, uint256 reserveOut) internal pure returns (uint256) {
        return (amountIn * reserveOut) / (reserveIn + amountIn);
    }

    function sqrt(uint256 x) internal pure returns (uint256 root) {
        uint256 next = (x + 1) / 2;
        root = x;
        while (next < root) (root, next) = (next, (x / next + next) / 2);
    }
}

/// A pair of Solidly, Aerodrome or Velodrome, for tokens of 18 decimals. Fees leave the pair during a swap.
contract SolidlyPairModel {
    address public immutable token0;
    address public immutable token1;
    bool public immutable stable;
    uint256 private reserve0;
    uint256 private reserve1;
    bool private isLocked;

    constructor(address tokenA, address tokenB, bool stable_) {
        (token0, token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        stable = stable_;
    }

    modifier lock() {
        require(!isLocked, "locked");
        isLocked = true;
        _;
        isLocked = false;
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (reserve0, reserve1, block.timestamp);
    }

    function sync() public lock {
        reserve0 = IToken(token0).balanceOf(address(this));
        reserve1 = IToken(token1).balanceOf(address(this));
    }

    /// The fee is 0.3 %.
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        amountIn -= (amountIn * 30) / 10_000;
        (uint256 reserveIn, uint256 reserveOut) = tokenIn == token0 ? (reserve0, reserve1) : (reserve1, reserve0);
        if (!stable) return Curve.amountOut(amountIn, reserveIn, reserveOut);
        // The smallest reserve that keeps the invariant, by halving.
        uint256 k = kOf(reserveIn, reserveOut);
        (uint256 low, uint256 high) = (0, reserveOut);
        while (low < high) {
            uint256 middle = (low + high) / 2;
            if (kOf(reserveIn + amountIn, middle) < k) low = middle + 1;
            else high = middle;
        }
        return reserveOut - low;
    }

    function swap(uint256 out0, uint256 out1, address to, bytes calldata) external lock {
        require(out0 > 0 || out1 > 0, "InsufficientOutputAmount");
        require(out0 < reserve0 && out1 < reserve1, "InsufficientLiquidity");
        if (out0 > 0) IToken(token0).transfer(to, out0);
        if (out1 > 0) IToken(token1).transfer(to, out1);
        uint256 in0 = IToken(token0).balanceOf(address(this)) - (reserve0 - out0);
        uint256 in1 = IToken(token1).balanceOf(address(this)) - (reserve1 - out1);
        require(in0 > 0 || in1 > 0, "InsufficientInputAmount");
        if (in0 > 0) IToken(token0).transfer(address(0xfee), (in0 * 30) / 10_000);
        if (in1 > 0) IToken(token1).transfer(address(0xfee), (in1 * 30) / 10_000);
        uint256 balance0 = IToken(token0).balanceOf(address(this));
        uint256 balance1 = IToken(token1).balanceOf(address(this));
        require(kOf(balance0, balance1) >= kOf(reserve0, reserve1), "K");
        (reserve0, reserve1) = (balance0, balance1);
    }

    function kOf(uint256 x, uint256 y) private view returns (uint256) {
        if (!stable) return x * y;
        return (((x * y) / 1e18) * ((x * x) / 1e18 + (y * y) / 1e18)) / 1e18;
    }
}

interface IPlugin {
    function beforeSwap(bool zeroToOne) external;
    function afterSwap(bool zeroToOne) external;
}

interface IPayer {
    function algebraSwapCallback(int256 amount0, int256 amount1, bytes calldata data) external;
    function lockAcquired(bytes calldata data) external returns (bytes memory);
}

/// A pool of Algebra: calls its plugin around a swap, and pays a tenth of a percent of the input to the exchange at once.
contract AlgebraPoolModel {
    address public immutable token0;
    address public immutable token1;
    IPlugin public immutable plugin;

    constructor(address tokenA, address tokenB, IPlugin plugin_) {
        (token0, token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        plugin = plugin_;
    }

    function swap(address recipient, bool zeroToOne, int256 amount, uint160, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1)
    {
        if (address(plugin) != address(0)) plugin.beforeSwap(zeroToOne);
        (address tokenIn, address tokenOut) = zeroToOne ? (token0, token1) : (token1, token0);
        uint256 before = IToken(tokenIn).balanceOf(address(this));
        uint256 out = Curve.amountOut(uint256(amount), before, IToken(tokenOut).balanceOf(address(this)));
        (amount0, amount1) = zeroToOne ? (amount, -int256(out)) : (-int256(out), amount);
        IToken(tokenOut).transfer(recipient, out);
        IPayer(msg.sender).algebraSwapCallback(amount0, amount1, data);
        require(IToken(tokenIn).balanceOf(address(this)) >= before + uint256(amount), "insufficientInputAmount");
        IToken(tokenIn).transfer(address(0xfee), uint256(amount) / 1000);
        if (address(plugin) != address(0)) plugin.afterSwap(zeroToOne);
    }
}

/// Does not let sales happen: `sale` is the direction of those.
contract StubbornPlugin {
    bool private immutable sale;

    constructor(bool sale_) {
        sale = sale_;
    }

    function beforeSwap(bool) external pure {}

    function afterSwap(bool zeroToOne) external view {
        require(zeroToOne != sale, "no sales");
    }
}

/// The vault of Infinity: settles what sessions owe for all pools.
contract InfinityVaultModel {
    address private locker;
    address private synced;
    uint256 private reserve;
    uint256 private unsettled;
    mapping(address => mapping(address => int256)) private deltas;

    receive() external payable {}

    function lock(bytes calldata data) external returns (bytes memory answer) {
        require(locker == address(0), "LockerAlreadySet");
        locker = msg.sender;
        answer = IPayer(msg.sender).lockAcquired(data);
        require(unsettled == 0, "CurrencyNotSettled");
        locker = address(0);
    }

    function sync(address currency) external {
        synced = currency;
        reserve = IToken(currency).balanceOf(address(this));
    }

    function settle() external payable returns (uint256 paid) {
        paid = synced == address(0) ? msg.value : IToken(synced).balanceOf(address(this)) - reserve;
        account(msg.sender, synced, int256(paid));
        synced = address(0);
    }

    function take(address currency, address to, uint256 amount) external {
        account(msg.sender, currency, -int256(amount));
        if (currency == address(0)) payable(to).transfer(amount);
        else require(IToken(currency).transfer(to, amount), "ERC20TransferFailed");
    }

    /// Only managers call it in the original.
    function account(address settler, address currency, int256 delta) public {
        require(locker != address(0), "NoLocker");
        int256 before = deltas[settler][currency];
        deltas[settler][currency] = before + delta;
        if (before == 0 && delta != 0) unsettled++;
        if (before != 0 && before + delta == 0) unsettled--;
    }
}

struct InfinityKey {
    address currency0;
    address currency1;
    address hooks;
    address poolManager;
    uint24 fee;
    bytes32 parameters;
}

struct InfinitySwap {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

/// The manager of Infinity's concentrated pools.
contract InfinityManagerModel {
    InfinityVaultModel public immutable vault;
    mapping(bytes32 => InfinityKey) public poolIdToPoolKey;
    mapping(bytes32 => uint256[2]) private reserves;

    constructor(InfinityVaultModel vault_) {
        vault = vault_;
    }

    function open(InfinityKey calldata key, uint256 reserve0, uint256 reserve1) external {
        bytes32 id = keccak256(abi.encode(key));
        poolIdToPoolKey[id] = key;
        reserves[id] = [reserve0, reserve1];
    }

    function getSlot0(bytes32 id) external view returns (uint160, int24, uint24, uint24) {
        uint256[2] storage has = reserves[id];
        return (uint160((Curve.sqrt((has[1] * 1e18) / has[0]) << 96) / 1e9), 0, 0, 0);
    }

    function getLiquidity(bytes32 id) external view returns (uint128) {
        return uint128(Curve.sqrt(reserves[id][0] * reserves[id][1]));
    }

    function swap(InfinityKey calldata key, InfinitySwap calldata params, bytes calldata) external returns (int256) {
        bytes32 id = keccak256(abi.encode(key));
        require(params.amountSpecified < 0, "only exact input in this model");
        if (key.hooks != address(0)) IPlugin(key.hooks).afterSwap(params.zeroForOne);
        (uint256 from, uint256 to) = params.zeroForOne ? (0, 1) : (1, 0);
        uint256 amount = uint256(-params.amountSpecified);
        uint256 out = Curve.amountOut(amount, reserves[id][from], reserves[id][to]);
        reserves[id][from] += amount;
        reserves[id][to] -= out;
        (int256 delta0, int256 delta1) =
            params.zeroForOne ? (-int256(amount), int256(out)) : (int256(out), -int256(amount));
        vault.account(msg.sender, key.currency0, delta0);
        vault.account(msg.sender, key.currency1, delta1);
        return (delta0 << 128) | int256(uint256(uint128(int128(delta1))));
    }
}

interface IOwnToken is IToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// A token of a launch platform: until it graduates, it moves from and to the platform only.
contract LaunchedToken {
    address private immutable platform;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(address platform_) {
        platform = platform_;
        balanceOf[platform_] = 1e27;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        require(from == platform || to == platform, "not yet");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        return true;
    }
}

/// A curve of constant product without a fee; `sales` turns them on.
abstract contract CurveModel {
    uint256 internal constant GOAL = 24 ether;
    address internal immutable quote;
    uint256 internal offers = 8e26;
    uint256 internal funds = GOAL / 3;
    bool private immutable sales;

    constructor(address quote_, bool sales_) {
        (quote, sales) = (quote_, sales_);
    }

    receive() external payable {}

    function buyFor(address token, uint256 cost) internal returns (uint256 amount) {
        amount = Curve.amountOut(cost, funds, offers);
        (offers, funds) = (offers - amount, funds + cost);
        IToken(token).transfer(msg.sender, amount);
    }

    function sellFor(address token, uint256 amount) internal returns (uint256 cost) {
        require(sales, "no sales");
        IOwnToken(token).transferFrom(msg.sender, address(this), amount);
        cost = Curve.amountOut(amount, offers, funds);
        (offers, funds) = (offers + amount, funds - cost);
        if (quote == address(0)) payable(msg.sender).call{value: cost}("");
        else IToken(quote).transfer(msg.sender, cost);
    }
}

/// four.meme's second manager: amounts are whole gwei, and fees are paid on top.
contract FourMemeModel is CurveModel {
    struct Info {
        address base;
        address quote;
        uint256 template;
        uint256 totalSupply;
        uint256 maxOffers;
        uint256 maxRaising;
        uint256 launchTime;
        uint256 offers;
        uint256 funds;
        uint256 lastPrice;
        uint256 K;
        uint256 T;
        uint256 status;
    }

    constructor(address quote_, bool sales_) CurveModel(quote_, sales_) {}

    function _tokenInfos(address token) external view returns (Info memory info) {
        (info.base, info.quote, info.maxRaising) = (token, quote, GOAL);
    }

    function buyTokenAMAP(address token, uint256 cost, uint256 minAmount) external payable {
        require(cost % 1 gwei == 0, "GW");
        require(msg.value >= cost + cost / 100, "More BNB");
        require(buyFor(token, cost) >= minAmount, "Slippage");
        payable(msg.sender).call{value: msg.value - cost - cost / 100}("");
    }

    function sellToken(address token, uint256 amount) external {
        require(amount % 1 gwei == 0, "GW");
        sellFor(token, amount);
    }
}

/// Flap's portal, of which version 5 of the state is the newest.
contract FlapModel is CurveModel {
    struct State {
        uint8 status;
        uint256 reserve;
        uint256 circulatingSupply;
        uint256 price;
        uint8 tokenVersion;
        uint256 r;
        uint256 h;
        uint256 k;
        uint256 dexSupplyThresh;
        address quoteTokenAddress;
        bool nativeToQuoteSwapEnabled;
        bytes32 extensionID;
    }

    struct ExactInput {
        address inputToken;
        address outputToken;
        uint256 inputAmount;
        uint256 minOutputAmount;
        bytes permitData;
    }

    constructor(address quote_, bool sales_) CurveModel(quote_, sales_) {}

    function getTokenV5(address) external view returns (State memory state) {
        (state.status, state.price) = (1, (funds * 1e18) / offers);
        (state.dexSupplyThresh, state.quoteTokenAddress) = (8e26, quote);
    }

    function swapExactInput(ExactInput calldata params) external payable returns (uint256 out) {
        require(params.permitData.length == 0, "permit");
        if (params.outputToken == quote) {
            out = sellFor(params.inputToken, params.inputAmount);
        } else {
            require(params.inputToken == quote, "input");
            if (quote == address(0)) require(msg.value == params.inputAmount, "value");
            else IOwnToken(quote).transferFrom(msg.sender, address(this), params.inputAmount);
            out = buyFor(params.outputToken, params.inputAmount);
        }
        require(out >= params.minOutputAmount, "Slippage");
    }
}
