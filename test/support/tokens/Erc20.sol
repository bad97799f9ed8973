// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// What all test tokens that trade have in common.
abstract contract Erc20 {
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) internal balances;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        _create(msg.sender, 1e27);
    }

    function balanceOf(address holder) public view virtual returns (uint256) {
        return balances[holder];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _create(address to, uint256 value) internal {
        totalSupply += value;
        balances[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _move(address from, address to, uint256 value) internal virtual {
        balances[from] -= value;
        balances[to] += value;
        emit Transfer(from, to, value);
    }
}

abstract contract Named is Erc20 {
    string public constant name = "Test";
    string public constant symbol = "TST";
}
