// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Named} from "./Erc20.sol";

/// After a purchase, empty accounts report 2^255 until the next ordinary transfer: a recipient's balance seems to shrink.
contract ShrinkingRecipientToken is Named {
    bool internal armed;

    function balanceOf(address holder) public view override returns (uint256) {
        uint256 balance = balances[holder];
        return balance == 0 && armed ? 2 ** 255 : balance;
    }

    function _move(address from, address to, uint256 value) internal override {
        armed = from.code.length > 0 && tx.origin != from; // out of a pool: a purchase
        super._move(from, to, value);
    }
}

/// Refuses transfers between accounts with a reason of 4-byte characters, which take two UTF-16 units each.
contract AstralReasonToken is Named {
    function _move(address from, address to, uint256 value) internal override {
        bool isOfPool = from.code.length > 0 || to.code.length > 0;
        if (!isOfPool) {
            bytes memory reason;
            for (uint256 i = 0; i < 64; i++) reason = abi.encodePacked(reason, hex"f09f92a3");
            revert(string(reason));
        }
        super._move(from, to, value);
    }
}
