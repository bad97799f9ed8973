// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// A factory that announces any number of pairs and creates none of them.
contract ManyPairs {
    event PairCreated(address indexed token0, address indexed token1, address pair, uint256 count);

    /// Pair `n` is of the token `0x1…n` and the quote asset, at the address `0x2…n`.
    function announce(address quote, uint256 from, uint256 count) external {
        for (uint256 n = from; n < from + count; n++)
            emit PairCreated(address(uint160((1 << 156) + n)), quote, address(uint160((2 << 156) + n)), n);
    }
}
