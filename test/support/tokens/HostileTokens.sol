// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Old tokens answer with 32 bytes instead of a string.
contract Bytes32Token {
    bytes32 public constant name = "Maker";
    bytes32 public constant symbol = "MKR";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1000000;
}

contract RevertingToken {
    function name() external pure returns (string memory) {
        revert("no name");
    }

    function symbol() external pure returns (string memory) {
        assert(false);
        return "";
    }

    uint8 public constant decimals = 7;
    uint256 public constant totalSupply = 5;
}

/// Burns all the gas it is given.
contract GasEater {
    fallback() external {
        assembly {
            for {} 1 {} {
                pop(keccak256(0, 4096))
            }
        }
    }
}

/// Answers everything with a megabyte, which costs more gas than it is given.
contract MegabyteToken {
    fallback() external {
        assembly {
            mstore(0, 32)
            mstore(32, 1048576)
            return(0, 1048640)
        }
    }
}

/// Answers everything with a hundred kilobytes.
contract LongToken {
    fallback() external {
        assembly {
            mstore(0, 32)
            mstore(32, 100000)
            for { let at := 64 } lt(at, 3264) { at := add(at, 32) } {
                mstore(at, 0x5858585858585858585858585858585858585858585858585858585858585858)
            }
            return(0, 100064)
        }
    }
}

/// NUL bytes, a right-to-left override, zero-width characters, broken UTF-8, and a number no decimals can be.
contract UglyToken {
    function name() external pure returns (bytes memory) {
        return hex"0055e280ae53e2808b4400ff43";
    }

    function symbol() external pure returns (string memory) {
        return unicode"  ＵＳＤ\u202eＣ\u0000 ";
    }

    uint256 public constant decimals = 300;
    uint256 public constant totalSupply = type(uint256).max;
}

/// Offsets and lengths that point nowhere.
contract LyingToken {
    function name() external pure {
        assembly {
            mstore(0, not(0))
            mstore(32, 3)
            return(0, 64)
        }
    }

    function symbol() external pure {
        assembly {
            mstore(0, 32)
            mstore(32, not(0))
            mstore(64, "abc")
            return(0, 96)
        }
    }

    function decimals() external pure {
        assembly {
            mstore(0, 18)
            return(31, 1)
        }
    }

    function totalSupply() external pure {
        assembly {
            return(0, 0)
        }
    }
}

/// Says that it is a pool of a factory which does not know it.
contract FalsePool {
    address public immutable factory;
    address public immutable token0;
    address public immutable token1;

    event Sync(uint112 reserve0, uint112 reserve1);

    constructor(address factory_, address token0_, address token1_) {
        factory = factory_;
        token0 = token0_;
        token1 = token1_;
    }

    function sync() external {
        emit Sync(1, 1000000);
    }
}
