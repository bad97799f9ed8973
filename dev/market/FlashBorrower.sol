// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function flash(address recipient, uint256 amount0, uint256 amount1, bytes calldata data) external;
}

interface IToken {
    function transfer(address to, uint256 value) external returns (bool);
}

/// Takes a flash loan of a Uniswap V3 pool and pays it back with the fee, out of what it was given before.
contract FlashBorrower {
    function borrow(IPool pool, uint256 amount0, uint256 amount1) external {
        pool.flash(address(this), amount0, amount1, abi.encode(amount0, amount1));
    }

    function uniswapV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        (uint256 amount0, uint256 amount1) = abi.decode(data, (uint256, uint256));
        IPool pool = IPool(msg.sender);
        if (amount0 > 0) IToken(pool.token0()).transfer(msg.sender, amount0 + fee0);
        if (amount1 > 0) IToken(pool.token1()).transfer(msg.sender, amount1 + fee1);
    }
}
