// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// An ERC-20 that trades normally.
contract OrdinaryToken {
    string public constant name = "Ordinary";
    string public constant symbol = "ORD";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1e27;
    mapping(address => uint256) internal balances;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        balances[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function balanceOf(address holder) public view virtual returns (uint256) {
        return balances[holder];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) internal virtual {
        balances[from] -= value;
        balances[to] += value;
        emit Transfer(from, to, value);
    }
}

/// After a purchase, empty accounts report 2^255 until the next ordinary transfer: a recipient's balance seems to shrink.
contract ShrinkingRecipientToken is OrdinaryToken {
    bool internal armed;

    function balanceOf(address holder) public view override returns (uint256) {
        uint256 balance = balances[holder];
        return balance == 0 && armed ? 2 ** 255 : balance;
    }

    function move(address from, address to, uint256 value) internal override {
        armed = from.code.length > 0 && tx.origin != from; // out of a pool: a purchase
        super.move(from, to, value);
    }
}

/// Refuses transfers between accounts with a reason of 4-byte characters, which take two UTF-16 units each.
contract AstralReasonToken is OrdinaryToken {
    function move(address from, address to, uint256 value) internal override {
        bool isOfPool = from.code.length > 0 || to.code.length > 0;
        if (!isOfPool) {
            bytes memory reason;
            for (uint256 i = 0; i < 64; i++) reason = abi.encodePacked(reason, hex"f09f92a3");
            revert(string(reason));
        }
        super.move(from, to, value);
    }
}
