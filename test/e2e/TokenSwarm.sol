// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

interface IFactory {
    function createPair(address a, address b) external returns (address);
}

/// The code that all tokens of a swarm share; each has balances of its own.
contract SwarmToken {
    string public constant name = "Swarm";
    string public constant symbol = "SWARM";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1000;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function start(address first, address second) external {
        balanceOf[first] = totalSupply;
        emit Transfer(address(0), first, totalSupply);
        balanceOf[first] -= 400;
        balanceOf[second] = 400;
        emit Transfer(first, second, 400);
    }
}

/// Creates many tokens in one transaction, and later their pools.
contract TokenSwarm {
    address private immutable _code = address(new SwarmToken());
    address[] public tokens;

    function createTokens(uint256 count) external {
        bytes20 code = bytes20(_code);
        for (uint256 at = 0; at < count; at++) {
            // EIP-1167: a contract that delegates every call to `code`.
            bytes memory proxy = abi.encodePacked(
                hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", code, hex"5af43d82803e903d91602b57fd5bf3"
            );
            address token;
            assembly {
                token := create(0, add(proxy, 0x20), mload(proxy))
            }
            require(token != address(0));
            SwarmToken(token).start(address(uint160(0xa000 + tokens.length)), address(0xb0b));
            tokens.push(token);
        }
    }

    function createPools(IFactory factory, address quote, uint256 from, uint256 to) external {
        for (uint256 at = from; at < to; at++) factory.createPair(tokens[at], quote);
    }
}
