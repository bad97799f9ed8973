// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Returns whatever the test sets.
contract Shouter {
    function say(bytes32[] calldata topics, bytes memory data) external {
        uint256 size = data.length;
        bytes32[4] memory all;
        for (uint256 each = 0; each < topics.length; each++) all[each] = topics[each];
        (bytes32 a, bytes32 b, bytes32 c, bytes32 d) = (all[0], all[1], all[2], all[3]);
        assembly {
            let at := add(data, 32)
            switch topics.length
            case 0 { log0(at, size) }
            case 1 { log1(at, size, a) }
            case 2 { log2(at, size, a, b) }
            case 3 { log3(at, size, a, b, c) }
            default { log4(at, size, a, b, c, d) }
        }
    }
}

/// Trades like any other; what it answers when asked who it is are bytes of the test's choosing. No bytes: it reverts.
contract ScriptedToken is Shouter {
    bytes[4] private answers;
    mapping(address => uint256) internal balances;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(bytes[4] memory answers_) {
        answers = answers_;
        balances[msg.sender] = 1e27;
        emit Transfer(address(0), msg.sender, 1e27);
    }

    function name() external view {
        _answer(0);
    }

    function symbol() external view {
        _answer(1);
    }

    function decimals() external view virtual {
        _answer(2);
    }

    function totalSupply() external view {
        _answer(3);
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

    function _move(address from, address to, uint256 value) internal virtual {
        balances[from] -= value;
        balances[to] += value;
        emit Transfer(from, to, value);
    }

    function _answer(uint256 place) internal view {
        bytes memory answer = answers[place];
        require(answer.length > 0);
        assembly {
            return(add(answer, 32), mload(answer))
        }
    }
}

/// Has other decimals in each block.
contract ShiftyToken is ScriptedToken {
    constructor(bytes[4] memory answers_) ScriptedToken(answers_) {}

    function decimals() external view override {
        uint256 shown = block.number % 19;
        assembly {
            mstore(0, shown)
            return(0, 32)
        }
    }
}

/// Every address has a large balance.
contract LyingBalances is ScriptedToken {
    constructor(bytes[4] memory answers_) ScriptedToken(answers_) {}

    function balanceOf(address) public pure override returns (uint256) {
        return 1e30;
    }
}

/// Says of each transfer that it was another one.
contract LyingTransfers is ScriptedToken {
    constructor(bytes[4] memory answers_) ScriptedToken(answers_) {}

    function _move(address from, address to, uint256 value) internal override {
        balances[from] -= value;
        balances[to] += value;
        emit Transfer(address(uint160(uint256(keccak256(abi.encode(to))))), to, value);
    }
}

/// Cannot be transferred; an attempt returns more than a megabyte.
contract BombInTransfer is ScriptedToken {
    address private immutable maker = msg.sender;

    constructor(bytes[4] memory answers_) ScriptedToken(answers_) {}

    function _move(address from, address to, uint256 value) internal override {
        if (from != maker && to != maker) {
            assembly {
                revert(0, 1300000)
            }
        }
        super._move(from, to, value);
    }
}

/// Burns all gas when it is moved by anybody but its maker.
contract GasInTransfer is ScriptedToken {
    address private immutable maker = msg.sender;

    constructor(bytes[4] memory answers_) ScriptedToken(answers_) {}

    function _move(address from, address to, uint256 value) internal override {
        if (from != maker && to != maker) {
            assembly {
                for {} 1 {} {
                    pop(keccak256(0, 4096))
                }
            }
        }
        super._move(from, to, value);
    }
}

/// Runs the code of whatever it was last pointed at, which may be itself.
contract LoopingProxy {
    // keccak256("eip1967.proxy.implementation") - 1
    bytes32 private constant CODE = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    function point(address code) external {
        assembly {
            sstore(CODE, code)
        }
    }

    fallback() external {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(CODE), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
