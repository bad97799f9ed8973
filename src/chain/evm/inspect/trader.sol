// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IToken {
    function balanceOf(address holder) external view returns (uint256);
}

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint256 reserve0, uint256 reserve1, uint256 time);
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    function sync() external;
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

interface IPool {
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

/// Holds the tokens of all its pools and settles them at the end of a session: Uniswap V4's manager, Infinity's vault.
interface IVault {
    function sync(address currency) external;
    function settle() external payable returns (uint256 paid);
    function take(address currency, address to, uint256 amount) external;
}

/// Never deployed: a node is asked to pretend that it stands at some address. Trades with a pool as a router does,
/// with what its caller has, and measures what leaves and what arrives.
contract Trader {
    enum Kind {
        Reserves,
        Concentrated,
        Vault,
        Quoted,
        Curve
    }

    struct Market {
        Kind kind;
        /// Swaps.
        address pool;
        /// Receives the payment.
        address vault;
        address token;
        /// The zero address is the native coin, which this contract pays itself.
        address quote;
        /// To buy for; zero means a thousandth of the quote tokens in the pool.
        uint256 amount;
        /// Runs code of somebody else during a swap, which may fail for reasons of its own.
        bool hasHooks;
        /// Of a vault: selector of the function that opens a session.
        bytes4 opening;
        /// Of a vault: the call that swaps up to its parameters, that is, selector and pool key. Of a curve: the call that
        /// buys, and the one that sells, before and after the amount.
        bytes swap;
    }

    struct Order {
        address payer;
        address from;
        address to;
        uint256 amount;
    }

    /// The pool received too little to pay anything out.
    error Underpaid(uint256 spent, uint256 arrived);
    /// The pool holds too little of the quote token for a meaningful trade.
    error Empty();
    /// The caller has no quote tokens.
    error Penniless();

    uint160 private constant LOWEST = 4295128740;
    uint160 private constant HIGHEST = 1461446703485210103287273052203988822378723970341;
    uint256 private constant STEP_GAS = 4_000_000;
    /// Less than a step has, so that hooks that burn all of it leave enough to find out whose fault it was.
    uint256 private constant HOOKED_GAS = 2_000_000;
    uint256 private constant MAX_ANSWER = 512;

    /// Buys for a thousandth of what the pool holds. Small enough for limits that honest tokens have.
    function buy(Market calldata market)
        external
        returns (uint256 given, uint256 received, uint256 paid, bool isPoolAtFault)
    {
        uint256 amount = market.amount > 0 ? market.amount : balance(market.quote, market.pool) / 1000;
        if (amount == 0) revert Empty();
        address holder = holderOf(market);
        if (balance(market.quote, market.quote == address(0) ? address(this) : holder) < amount) revert Penniless();
        uint256 before = balance(market.token, holder);
        (given,, paid, isPoolAtFault) = trade(market, Order(holder, market.quote, market.token, amount));
        received = balance(market.token, holder) - before;
    }

    /// Sells half of what the caller has: some tokens charge what they take on top.
    function sell(Market calldata market)
        external
        returns (uint256 held, uint256 spent, uint256 arrived, uint256 received, bool isPoolAtFault)
    {
        address holder = holderOf(market);
        held = balance(market.token, holder);
        uint256 before = balance(market.quote, holder);
        (, spent, arrived, isPoolAtFault) = trade(market, Order(holder, market.token, market.quote, held / 2));
        received = balance(market.quote, holder) - before;
    }

    /// Platforms of curves trade with their caller only, and their tokens cannot be passed on yet. So this contract buys.
    function holderOf(Market calldata market) private view returns (address) {
        return market.kind == Kind.Curve ? address(this) : msg.sender;
    }

    /// All at once, for nodes that cannot simulate transactions. Both wallets have the code of this contract.
    function tradeAll(Market calldata market, Trader wallet, address friend)
        external
        returns (bool[3] memory oks, bytes[3] memory answers)
    {
        wallet.act(market.quote, abi.encodeWithSignature("approve(address,uint256)", address(this), type(uint256).max));
        (oks[0], answers[0]) = wallet.act(address(this), abi.encodeCall(this.buy, (market)));
        if (!oks[0]) return (oks, answers);

        uint256 held = balance(market.token, address(wallet));
        uint256 before = balance(market.token, friend);
        bytes memory transfer = abi.encodeWithSignature("transfer(address,uint256)", friend, held / 2);
        (oks[1], answers[1]) = wallet.act(market.token, transfer);
        uint256 left = balance(market.token, address(wallet));
        if (oks[1]) answers[1] = abi.encode(held, before, left, balance(market.token, friend));

        wallet.act(market.token, abi.encodeWithSignature("approve(address,uint256)", address(this), type(uint256).max));
        (oks[2], answers[2]) = wallet.act(address(this), abi.encodeCall(this.sell, (market)));
    }

    /// Acts as a wallet.
    function act(address to, bytes calldata data) external returns (bool ok, bytes memory answer) {
        return callWithin(STEP_GAS, to, data);
    }

    /// Makes a call and returns at most MAX_ANSWER bytes of its result.
    function callWithin(uint256 limit, address to, bytes memory data) private returns (bool ok, bytes memory answer) {
        answer = new bytes(MAX_ANSWER);
        assembly {
            ok := call(limit, to, 0, add(data, 32), mload(data), 0, 0)
            let size := returndatasize()
            if gt(size, MAX_ANSWER) { size := MAX_ANSWER }
            mstore(answer, size)
            returndatacopy(add(answer, 32), 0, size)
        }
    }

    /// The native coin.
    receive() external payable {}

    /// A concentrated pool wants to be paid now; each exchange has its own name for this, with the same parameters.
    fallback() external {
        (int256 amount0, int256 amount1, bytes memory debt) = abi.decode(msg.data[4:], (int256, int256, bytes));
        (address token, address payer) = abi.decode(debt, (address, address));
        uint256 amount = uint256(amount0 > 0 ? amount0 : amount1);
        payInFull(token, payer, msg.sender, amount);
    }

    /// A session of Uniswap V4.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        return settleTrade(data);
    }

    /// A session of Infinity.
    function lockAcquired(bytes calldata data) external returns (bytes memory) {
        return settleTrade(data);
    }

    /// What the pool gave, what its caller spent for it, and what of that arrived. Nothing is stored, which would cost gas
    /// that trades elsewhere do not. If hooks may be the cause of a failure, the seller's payment is repeated without
    /// them: the pool is at fault if that works.
    function trade(Market calldata market, Order memory order)
        private
        returns (uint256 given, uint256 spent, uint256 arrived, bool isPoolAtFault)
    {
        if (!market.hasHooks) {
            (given, spent, arrived) = tradeOnce(market, order);
            return (given, spent, arrived, false);
        }
        (bool ok, bytes memory answer) =
            callWithin(HOOKED_GAS, address(this), abi.encodeCall(this.tradeFor, (market, order)));
        if (ok) {
            (given, spent, arrived) = abi.decode(answer, (uint256, uint256, uint256));
            return (given, spent, arrived, given == 0);
        }
        // Without its platform, nothing is known about a curve.
        if (order.from == market.token && market.kind != Kind.Curve) {
            if (market.kind == Kind.Concentrated) {
                payInFull(order.from, order.payer, market.vault, order.amount);
            } else {
                (spent, arrived) = pay(order.from, order.payer, market.vault, order.amount);
                if (arrived <= spent / 10) revert Underpaid(spent, arrived);
            }
        }
        return (0, 0, 0, true);
    }

    /// Called by this contract itself, so that a failure can be caught.
    function tradeFor(Market calldata market, Order calldata order)
        external
        returns (uint256 given, uint256 spent, uint256 arrived)
    {
        require(msg.sender == address(this));
        return tradeOnce(market, order);
    }

    function tradeOnce(Market calldata market, Order memory order)
        private
        returns (uint256 given, uint256 spent, uint256 arrived)
    {
        if (market.kind == Kind.Vault) return tradeInVault(market, order);
        if (market.kind == Kind.Curve) return tradeOnCurve(market, order);
        if (market.kind != Kind.Concentrated) return tradeByReserves(market.pool, order, market.kind == Kind.Quoted);
        spent = balance(order.from, order.payer);
        (given, arrived) = swap(market.pool, order);
        spent -= balance(order.from, order.payer);
    }

    /// What the pool gave, and what it was paid for that. Its balance does not show it: some pay out fees at once.
    function swap(address pool, Order memory order) private returns (uint256 given, uint256 paid) {
        bool zeroForOne = order.from < order.to;
        bytes memory debt = abi.encode(order.from, order.payer);
        (int256 amount0, int256 amount1) =
            IPool(pool).swap(order.payer, zeroForOne, int256(order.amount), zeroForOne ? LOWEST : HIGHEST, debt);
        return zeroForOne ? (uint256(-amount1), uint256(amount0)) : (uint256(-amount0), uint256(amount1));
    }

    /// Platforms mint, burn and tax in ways that balances do not show, so all of it counts as given and arrived.
    function tradeOnCurve(Market calldata market, Order memory order)
        private
        returns (uint256 given, uint256 spent, uint256 arrived)
    {
        (bytes memory call, bytes memory head, bytes memory tail) = abi.decode(market.swap, (bytes, bytes, bytes));
        // Amounts of four.meme are whole gwei.
        if (order.from == market.token) call = abi.encodePacked(head, order.amount - (order.amount % 1 gwei), tail);
        (given, spent) = (balance(order.to, address(this)), balance(order.from, address(this)));
        bool isNative = order.from == address(0);
        if (!isNative) {
            callOrFail(order.from, 0, abi.encodeWithSignature("approve(address,uint256)", market.pool, order.amount));
        }
        callOrFail(market.pool, isNative ? order.amount : 0, call);
        given = balance(order.to, address(this)) - given;
        spent -= balance(order.from, address(this));
        arrived = spent;
    }

    function tradeInVault(Market calldata market, Order memory order)
        private
        returns (uint256 given, uint256 spent, uint256 arrived)
    {
        bytes memory session = abi.encodeWithSelector(market.opening, abi.encode(market, order));
        bytes memory answer = abi.decode(callOrFail(market.vault, 0, session), (bytes));
        return abi.decode(answer, (uint256, uint256, uint256));
    }

    /// Pays in advance and swaps what arrived: the pool then accepts tokens that take a tax.
    function settleTrade(bytes calldata data) private returns (bytes memory) {
        (Market memory market, Order memory order) = abi.decode(data, (Market, Order));
        (uint256 spent, uint256 arrived) = (order.amount, order.amount);
        if (order.from == address(0)) {
            IVault(msg.sender).settle{value: arrived}();
        } else {
            IVault(msg.sender).sync(order.from);
            (spent,) = pay(order.from, order.payer, msg.sender, order.amount);
            arrived = IVault(msg.sender).settle();
        }
        if (arrived <= spent / 10) revert Underpaid(spent, arrived);
        (uint256 given, uint256 rest) = swapInVault(market, order, arrived);
        if (rest > 0) IVault(msg.sender).take(order.from, order.payer, rest);
        if (given > 0) IVault(msg.sender).take(order.to, order.payer, given);
        return abi.encode(given, spent > rest ? spent - rest : 0, arrived - rest);
    }

    /// The amount that the pool gave, and the part of the payment that it did not use.
    function swapInVault(Market memory market, Order memory order, uint256 amount)
        private
        returns (uint256 given, uint256 rest)
    {
        bool zeroForOne = order.from < order.to;
        bytes memory call = abi.encodePacked(
            market.swap,
            abi.encode(zeroForOne, -int256(amount), zeroForOne ? LOWEST : HIGHEST),
            // Where the data for hooks begins, after the selector, and its length.
            abi.encode(market.swap.length - 4 + 128, 0)
        );
        int256 delta = abi.decode(callOrFail(market.pool, 0, call), (int256));
        (int256 change0, int256 change1) = (delta >> 128, int256(int128(delta)));
        (int256 paid, int256 gained) = zeroForOne ? (change0, change1) : (change1, change0);
        int256 left = int256(amount) + paid;
        require(left >= 0 && left <= int256(amount) && gained >= 0, "the pool asks for more");
        return (uint256(gained), uint256(left));
    }

    function tradeByReserves(address pool, Order memory order, bool isQuoted)
        private
        returns (uint256 given, uint256 spent, uint256 arrived)
    {
        // A balance that changed by itself would look like a payment.
        try IPair(pool).sync() {} catch {}
        bool zeroForOne = IPair(pool).token0() == order.from;
        (spent,) = pay(order.from, order.payer, pool, order.amount);
        (uint256 reserveIn, uint256 reserveOut,) = IPair(pool).getReserves();
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        // Not by what the pool had before: tokens that sell their own fees in between leave reserves as they are then.
        arrived = balance(order.from, pool) - reserveIn;
        // As if the pool's fee were 5 %, or 5 % more: whichever it is, less, the pool gives what it is asked for.
        given = isQuoted
            ? (IPair(pool).getAmountOut(arrived, order.from) * 95) / 100
            : (arrived * 95 * reserveOut) / (reserveIn * 100 + arrived * 95);
        if (given == 0) revert Underpaid(spent, arrived);
        IPair(pool).swap(zeroForOne ? 0 : given, zeroForOne ? given : 0, order.payer, "");
    }

    function payInFull(address token, address from, address pool, uint256 amount) private {
        (uint256 spent, uint256 arrived) = pay(token, from, pool, amount);
        // Tokens that count in shares lose a unit to rounding. That is no tax.
        if (arrived < amount && amount - arrived <= amount / 1_000_000) {
            (, uint256 rest) = pay(token, from, pool, (amount - arrived) * 4);
            arrived += rest;
        }
        if (arrived < amount) revert Underpaid(spent, arrived);
    }

    function pay(address token, address from, address pool, uint256 amount)
        private
        returns (uint256 spent, uint256 arrived)
    {
        spent = balance(token, from);
        arrived = balance(token, pool);
        bytes memory answer =
            callOrFail(token, 0, abi.encodeWithSignature("transferFrom(address,address,uint256)", from, pool, amount));
        // Old tokens answer nothing.
        require(answer.length == 0 || abi.decode(answer, (bool)), "transferFrom answered false");
        spent -= balance(token, from);
        uint256 has = balance(token, pool);
        arrived = has > arrived ? has - arrived : 0;
    }

    /// Fails as the called contract does.
    function callOrFail(address to, uint256 value, bytes memory data) private returns (bytes memory) {
        (bool ok, bytes memory answer) = to.call{value: value}(data);
        if (!ok) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        return answer;
    }

    function balance(address token, address holder) private view returns (uint256) {
        return token == address(0) ? holder.balance : IToken(token).balanceOf(holder);
    }
}
