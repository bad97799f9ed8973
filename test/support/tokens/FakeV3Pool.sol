// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Says all that a Uniswap V3 pool says, and that a real factory made it; the factory knows nothing of it.
contract FakeV3Pool {
    address public immutable factory;
    address public immutable token0;
    address public immutable token1;
    uint24 public immutable fee;

    event Swap(
        address indexed sender,
        address indexed recipient,
        int256 amount0,
        int256 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick
    );

    constructor(address factory_, address token0_, address token1_, uint24 fee_) {
        factory = factory_;
        token0 = token0_;
        token1 = token1_;
        fee = fee_;
    }

    function swap() external {
        emit Swap(msg.sender, msg.sender, 1e24, -1, 1 << 96, 1, 0);
    }
}
