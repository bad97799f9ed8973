// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

interface IToken {
    function name() external view returns (string memory);
    function symbol() external view returns (string memory);
    function approve(address spender, uint256 value) external returns (bool);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IRouter {
    function factory() external view returns (address);
    function WETH() external view returns (address);
    function addLiquidityETH(address token, uint256 amount, uint256 minToken, uint256 minEth, address to, uint256 deadline)
        external
        payable
        returns (uint256, uint256, uint256);
}

interface IFactory {
    function getPair(address a, address b) external view returns (address);
}

/// Sells 800 million of each token along a curve of constant product; once its goal is raised, that and the other 200
/// million become the liquidity of a Uniswap V2 pool, in the same transaction.
abstract contract BondingCurves {
    uint256 internal constant SUPPLY = 1e27;
    uint256 internal constant FOR_SALE = 8e26;

    struct Curve {
        address quote;
        uint256 goal;
        uint256 left;
        uint256 raised;
        bool isOpen;
    }

    IRouter internal immutable router;
    mapping(address => Curve) internal curves;

    constructor(IRouter router_) {
        router = router_;
    }

    receive() external payable {}

    function open(address token, address quote, uint256 goal) external {
        IToken(token).transferFrom(msg.sender, address(this), SUPPLY);
        curves[token] = Curve(quote, goal, FOR_SALE, 0, true);
        onOpened(token, quote);
    }

    /// Takes `cost` and a fee of one hundredth on top.
    function buy(address token, uint256 cost) external payable {
        Curve storage curve = curves[token];
        require(curve.isOpen, "closed");
        uint256 fee = cost / 100;
        if (curve.quote == address(0)) require(msg.value == cost + fee, "value");
        else IToken(curve.quote).transferFrom(msg.sender, address(this), cost + fee);
        // A third of the goal, and of what is for sale, is there in name only.
        uint256 amount = (cost * (curve.left + FOR_SALE / 3)) / (curve.raised + curve.goal / 3 + cost);
        if (amount > curve.left) amount = curve.left;
        curve.left -= amount;
        curve.raised += cost;
        IToken(token).transfer(msg.sender, amount);
        onBought(token, curve, amount, cost, fee);
        if (curve.raised >= curve.goal) close(token, curve);
    }

    function sell(address token, uint256 amount) external {
        Curve storage curve = curves[token];
        require(curve.isOpen, "closed");
        IToken(token).transferFrom(msg.sender, address(this), amount);
        uint256 cost = (amount * (curve.raised + curve.goal / 3)) / (curve.left + FOR_SALE / 3 + amount);
        uint256 fee = cost / 100;
        curve.left += amount;
        curve.raised -= cost;
        if (curve.quote == address(0)) payable(msg.sender).transfer(cost - fee);
        else IToken(curve.quote).transfer(msg.sender, cost - fee);
        onSold(token, curve, amount, cost, fee);
    }

    function stateOf(address token) external view returns (uint256 left, uint256 raised, bool isOpen) {
        Curve storage curve = curves[token];
        return (curve.left, curve.raised, curve.isOpen);
    }

    function close(address token, Curve storage curve) private {
        require(curve.quote == address(0), "not for this coin");
        curve.isOpen = false;
        onClosing(token);
        uint256 tokens = SUPPLY - FOR_SALE;
        IToken(token).approve(address(router), tokens);
        router.addLiquidityETH{value: curve.raised}(token, tokens, 0, 0, address(this), type(uint256).max);
        address pool = IFactory(router.factory()).getPair(token, router.WETH());
        onClosed(token, pool, tokens, curve.raised);
    }

    function onOpened(address token, address quote) internal virtual;
    function onBought(address token, Curve storage curve, uint256 amount, uint256 cost, uint256 fee) internal virtual;
    function onSold(address token, Curve storage curve, uint256 amount, uint256 cost, uint256 fee) internal virtual;
    function onClosing(address token) internal virtual;
    function onClosed(address token, address pool, uint256 tokens, uint256 raised) internal virtual;
}

/// Says what four.meme's TokenManager2 says, and answers as it does.
contract TestTokenManager2 is BondingCurves {
    struct TokenInfo {
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

    event TokenCreate(
        address creator,
        address token,
        uint256 requestId,
        string name,
        string symbol,
        uint256 totalSupply,
        uint256 launchTime,
        uint256 launchFee
    );
    event TokenPurchase(
        address token,
        address account,
        uint256 price,
        uint256 amount,
        uint256 cost,
        uint256 fee,
        uint256 offers,
        uint256 funds
    );
    event TokenSale(
        address token,
        address account,
        uint256 price,
        uint256 amount,
        uint256 cost,
        uint256 fee,
        uint256 offers,
        uint256 funds
    );
    event TradeStop(address token);
    event LiquidityAdded(address base, uint256 offers, address quote, uint256 funds);

    constructor(IRouter router_) BondingCurves(router_) {}

    function _tokenInfos(address token) external view returns (TokenInfo memory info) {
        Curve storage curve = curves[token];
        if (curve.goal == 0) return info;
        info.base = token;
        info.quote = curve.quote;
        info.totalSupply = SUPPLY;
        info.maxOffers = FOR_SALE;
        info.maxRaising = curve.goal;
        info.offers = curve.left;
        info.funds = curve.raised;
        info.status = curve.isOpen ? 0 : 3;
    }

    /// Without the fee.
    function calcBuyCost(TokenInfo calldata info, uint256 amount) external pure returns (uint256) {
        return (amount * (info.funds + info.maxRaising / 3)) / (info.offers + info.maxOffers / 3 - amount);
    }

    function onOpened(address token, address) internal override {
        emit TokenCreate(msg.sender, token, 1, IToken(token).name(), IToken(token).symbol(), SUPPLY, 0, 0);
    }

    function onBought(address token, Curve storage curve, uint256 amount, uint256 cost, uint256 fee) internal override {
        emit TokenPurchase(token, msg.sender, (cost * 1e18) / amount, amount, cost, fee, curve.left, curve.raised);
    }

    function onSold(address token, Curve storage curve, uint256 amount, uint256 cost, uint256 fee) internal override {
        emit TokenSale(token, msg.sender, (cost * 1e18) / amount, amount, cost, fee, curve.left, curve.raised);
    }

    function onClosing(address token) internal override {
        emit TradeStop(token);
    }

    function onClosed(address token, address, uint256 tokens, uint256 raised) internal override {
        emit LiquidityAdded(token, tokens, curves[token].quote, raised);
    }
}

/// Says what Flap's portal says, and answers as it does.
contract TestPortal is BondingCurves {
    struct TokenStateV7 {
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
        uint256 taxRate;
        address pool;
        uint256 progress;
        uint8 lpFeeProfile;
        uint8 dexId;
    }

    event TokenCreated(
        uint256 ts, address creator, uint256 nonce, address token, string name, string symbol, string meta
    );
    event TokenQuoteSet(address token, address quoteToken);
    event TokenBought(
        uint256 ts, address token, address buyer, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice
    );
    event TokenSold(
        uint256 ts, address token, address seller, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice
    );
    event FlapTokenCirculatingSupplyChanged(address token, uint256 newSupply);
    event FlapTokenProgressChanged(address token, uint256 newProgress);
    event LaunchedToDEX(address token, address pool, uint256 amount, uint256 eth);

    constructor(IRouter router_) BondingCurves(router_) {}

    function getTokenV7(address token) external view returns (TokenStateV7 memory state) {
        Curve storage curve = curves[token];
        require(curve.goal != 0, "TokenNotFound");
        state.status = curve.isOpen ? 1 : 4;
        state.reserve = curve.raised;
        state.circulatingSupply = FOR_SALE - curve.left;
        state.price = ((curve.raised + curve.goal / 3) * 1e18) / (curve.left + FOR_SALE / 3);
        state.dexSupplyThresh = FOR_SALE;
        state.quoteTokenAddress = curve.quote;
        state.progress = progressOf(curve);
    }

    function progressOf(Curve storage curve) private view returns (uint256) {
        uint256 progress = (curve.raised * 1e18) / curve.goal;
        return progress > 1e18 ? 1e18 : progress;
    }

    function onOpened(address token, address quote) internal override {
        string memory name = IToken(token).name();
        emit TokenCreated(block.timestamp, msg.sender, 1, token, name, IToken(token).symbol(), "");
        emit TokenQuoteSet(token, quote);
    }

    function onBought(address token, Curve storage curve, uint256 amount, uint256 cost, uint256 fee) internal override {
        emit TokenBought(block.timestamp, token, msg.sender, amount, cost + fee, fee, (cost * 1e18) / amount);
        emitState(token, curve);
    }

    function onSold(address token, Curve storage curve, uint256 amount, uint256 cost, uint256 fee) internal override {
        emit TokenSold(block.timestamp, token, msg.sender, amount, cost - fee, fee, (cost * 1e18) / amount);
        emitState(token, curve);
    }

    function emitState(address token, Curve storage curve) private {
        emit FlapTokenCirculatingSupplyChanged(token, FOR_SALE - curve.left);
        emit FlapTokenProgressChanged(token, progressOf(curve));
    }

    function onClosing(address) internal override {}

    function onClosed(address token, address pool, uint256 tokens, uint256 raised) internal override {
        emit LaunchedToDEX(token, pool, tokens, raised);
    }
}
