// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Emits all transfers, but every balance grows without an event.
contract GrowingToken {
    string public constant name = "Growing";
    string public constant symbol = "GROW";
    uint8 public constant decimals = 18;
    uint256 private shares = 1e24;
    uint256 private factor = 1;
    mapping(address => uint256) private sharesOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        sharesOf[msg.sender] = shares;
        emit Transfer(address(0), msg.sender, shares);
    }

    function totalSupply() external view returns (uint256) {
        return shares * factor;
    }

    function balanceOf(address holder) external view returns (uint256) {
        return sharesOf[holder] * factor;
    }

    function grow() external {
        factor *= 2;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return _move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return _move(from, to, value);
    }

    function _move(address from, address to, uint256 value) private returns (bool) {
        sharesOf[from] -= value / factor;
        sharesOf[to] += value / factor;
        emit Transfer(from, to, value);
        return true;
    }
}
