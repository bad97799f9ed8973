// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// An ERC-20 that every wallet lets the exchanges of the sandbox spend. As a trap, only its creator and contracts can send
/// it: wallets can buy it and never sell it.
contract SandboxToken {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    bool private immutable isTrap;
    address private immutable creator;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) private allowances;
    mapping(address => bool) private exchanges;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(
        string memory name_,
        string memory symbol_,
        uint8 decimals_,
        uint256 supply,
        bool isTrap_,
        address[] memory exchanges_
    ) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        totalSupply = supply;
        isTrap = isTrap_;
        creator = msg.sender;
        for (uint256 at = 0; at < exchanges_.length; at++) exchanges[exchanges_[at]] = true;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return exchanges[spender] ? type(uint256).max : allowances[owner][spender];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowances[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return _move(msg.sender, to, value);
    }

    function transferMany(address[] calldata to, uint256 value) external {
        for (uint256 at = 0; at < to.length; at++) _move(msg.sender, to[at], value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance(from, msg.sender);
        if (allowed != type(uint256).max) allowances[from][msg.sender] = allowed - value;
        return _move(from, to, value);
    }

    function _move(address from, address to, uint256 value) private returns (bool) {
        require(!isTrap || from == creator || from.code.length > 0, "transfer");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}
