// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IToken {
    function balanceOf(address holder) external view returns (uint256);
}

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint256 reserve0, uint256 reserve1, uint256 time);
    function sync() external;
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

interface IPool {
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

/// Never deployed: a node is asked to pretend that it stands at some address. Trades with a pool as a router does,
/// with what its caller has, and measures what leaves and what arrives.
contract Trader {
    struct Market {
        address pool;
        bool isConcentrated;
        address token;
        address quote;
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
    uint256 private constant MAX_ANSWER = 512;

    /// Buys for a thousandth of what the pool holds. Small enough for limits that honest tokens have.
    function buy(Market calldata market) external returns (uint256 given, uint256 received) {
        uint256 amount = balance(market.quote, market.pool) / 1000;
        if (amount == 0) revert Empty();
        if (balance(market.quote, msg.sender) < amount) revert Penniless();
        uint256 before = balance(market.token, msg.sender);
        (given,,) = trade(market, market.quote, market.token, amount);
        received = balance(market.token, msg.sender) - before;
    }

    /// Sells half of what the caller has: some tokens charge what they take on top.
    function sell(Market calldata market)
        external
        returns (uint256 held, uint256 spent, uint256 arrived, uint256 received)
    {
        held = balance(market.token, msg.sender);
        uint256 before = balance(market.quote, msg.sender);
        (, spent, arrived) = trade(market, market.token, market.quote, held / 2);
        received = balance(market.quote, msg.sender) - before;
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

    /// Acts as a wallet: makes a call and returns at most MAX_ANSWER bytes of its result.
    function act(address to, bytes calldata data) external returns (bool ok, bytes memory answer) {
        bytes memory sent = data;
        answer = new bytes(MAX_ANSWER);
        assembly {
            ok := call(STEP_GAS, to, 0, add(sent, 32), mload(sent), 0, 0)
            let size := returndatasize()
            if gt(size, MAX_ANSWER) { size := MAX_ANSWER }
            mstore(answer, size)
            returndatacopy(add(answer, 32), 0, size)
        }
    }

    /// A concentrated pool wants to be paid now; each exchange has its own name for this, with the same parameters.
    fallback() external {
        (int256 amount0, int256 amount1, bytes memory debt) = abi.decode(msg.data[4:], (int256, int256, bytes));
        (address token, address payer) = abi.decode(debt, (address, address));
        uint256 amount = uint256(amount0 > 0 ? amount0 : amount1);
        (uint256 spent, uint256 arrived) = pay(token, payer, msg.sender, amount);
        // Tokens that count in shares lose a unit to rounding. That is no tax.
        if (arrived < amount && amount - arrived <= amount / 1_000_000) {
            (, uint256 rest) = pay(token, payer, msg.sender, (amount - arrived) * 4);
            arrived += rest;
        }
        if (arrived < amount) revert Underpaid(spent, arrived);
    }

    /// What the pool gave, what its caller spent for it, and what of that arrived. Nothing is stored, which would cost gas
    /// that trades elsewhere do not.
    function trade(Market calldata market, address from, address to, uint256 amount)
        private
        returns (uint256 given, uint256 spent, uint256 arrived)
    {
        if (!market.isConcentrated) return tradeByReserves(market.pool, from, amount);
        spent = balance(from, msg.sender);
        arrived = balance(from, market.pool);
        given = swap(market.pool, from, from < to, amount);
        spent -= balance(from, msg.sender);
        arrived = balance(from, market.pool) - arrived;
    }

    function swap(address pool, address from, bool zeroForOne, uint256 amount) private returns (uint256) {
        bytes memory debt = abi.encode(from, msg.sender);
        (int256 amount0, int256 amount1) =
            IPool(pool).swap(msg.sender, zeroForOne, int256(amount), zeroForOne ? LOWEST : HIGHEST, debt);
        return uint256(-(zeroForOne ? amount1 : amount0));
    }

    function tradeByReserves(address pool, address from, uint256 amount)
        private
        returns (uint256 given, uint256 spent, uint256 arrived)
    {
        // A balance that changed by itself would look like a payment.
        try IPair(pool).sync() {} catch {}
        bool zeroForOne = IPair(pool).token0() == from;
        (spent,) = pay(from, msg.sender, pool, amount);
        (uint256 reserveIn, uint256 reserveOut,) = IPair(pool).getReserves();
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        // Not by what the pool had before: tokens that sell their own fees in between leave reserves as they are then.
        arrived = balance(from, pool) - reserveIn;
        // As if the pool's fee were 5 %: whichever it is, less, the pool gives what it is asked for.
        given = (arrived * 95 * reserveOut) / (reserveIn * 100 + arrived * 95);
        if (given == 0) revert Underpaid(spent, arrived);
        IPair(pool).swap(zeroForOne ? 0 : given, zeroForOne ? given : 0, msg.sender, "");
    }

    function pay(address token, address from, address pool, uint256 amount)
        private
        returns (uint256 spent, uint256 arrived)
    {
        spent = balance(token, from);
        arrived = balance(token, pool);
        (bool ok, bytes memory answer) =
            token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", from, pool, amount));
        if (!ok) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        // Old tokens answer nothing.
        require(answer.length == 0 || abi.decode(answer, (bool)), "transferFrom answered false");
        spent -= balance(token, from);
        uint256 has = balance(token, pool);
        arrived = has > arrived ? has - arrived : 0;
    }

    function balance(address token, address holder) private view returns (uint256) {
        return IToken(token).balanceOf(holder);
    }
}
