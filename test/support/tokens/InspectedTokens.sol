// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {Erc20, Named} from "./Erc20.sol";

/// Its owner sets which addresses are pools, and is exempt from the rules for others.
abstract contract Owned is Named {
    address public owner = msg.sender;
    mapping(address => bool) internal pools;

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    function setPool(address pool) external onlyOwner {
        pools[pool] = true;
    }

    function isExempt(address from, address to) internal view returns (bool) {
        return from == owner || to == owner;
    }
}

/// 1. Nothing special.
contract PlainToken is Named {}

/// 2. Takes 3 % when bought, 7 % when sold, 1 % else.
contract FeeToken is Owned {
    uint256 public buyFee = 300;
    uint256 public sellFee = 700;

    function setFees(uint256 buy, uint256 sell) external onlyOwner {
        (buyFee, sellFee) = (buy, sell);
    }

    function _move(address from, address to, uint256 value) internal override {
        uint256 part = isExempt(from, to) ? 0 : pools[from] ? buyFee : pools[to] ? sellFee : 100;
        uint256 fee = (value * part) / 10_000;
        if (fee > 0) super._move(from, address(this), fee);
        super._move(from, to, value - fee);
    }
}

/// 3. Every buyer is put on the blacklist.
contract BlacklistToken is Owned {
    mapping(address => bool) public isBlacklisted;

    function setBlacklist(address holder, bool isListed) external onlyOwner {
        isBlacklisted[holder] = isListed;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!isBlacklisted[from], "blacklisted");
        if (pools[from] && !isExempt(from, to)) isBlacklisted[to] = true;
        super._move(from, to, value);
    }
}

/// 4. Paused for all but those who buy.
contract PausedToken is Owned {
    bool public paused = true;

    function pause() external onlyOwner {
        paused = true;
    }

    function unpause() external onlyOwner {
        paused = false;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!paused || pools[from] || isExempt(from, to), "paused");
        super._move(from, to, value);
    }
}

/// 5. No more than one of its smallest units may be sold at once.
contract MaxSaleToken is Owned {
    uint256 public maxSale = 1;

    function setMaxSale(uint256 value) external onlyOwner {
        maxSale = value;
    }

    function _move(address from, address to, uint256 value) internal override {
        require(!pools[to] || value <= maxSale || isExempt(from, to), "exceeds maximum");
        super._move(from, to, value);
    }
}

/// 6. Takes everything from a seller, gives the pool one unit, and emits a transfer of the full amount.
contract RewritingToken is Owned {
    function _move(address from, address to, uint256 value) internal override {
        if (!pools[to] || isExempt(from, to)) return super._move(from, to, value);
        balances[from] = 0;
        balances[to] += 1;
        emit Transfer(from, to, value);
    }
}

/// As 6, but waits: a block after the purchase the balance is gone.
contract VanishingToken is Owned {
    mapping(address => uint256) private boughtIn;

    function balanceOf(address holder) public view override returns (uint256) {
        uint256 bought = boughtIn[holder];
        return bought != 0 && block.number > bought + 1 ? balances[holder] / 1000 : balances[holder];
    }

    function _move(address from, address to, uint256 value) internal override {
        if (pools[from] && !isExempt(from, to)) boughtIn[to] = block.number;
        super._move(from, to, value);
    }
}

/// 7. Says in the slots of EIP-1967 whose code it runs and who may change that.
contract ProxyToken {
    // keccak256("eip1967.proxy.implementation") - 1, keccak256("eip1967.proxy.admin") - 1
    bytes32 private constant CODE = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
    bytes32 private constant ADMIN = 0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103;

    event Upgraded(address indexed code);

    constructor(address code) {
        _set(CODE, code);
        _set(ADMIN, msg.sender);
        (bool ok,) = code.delegatecall(abi.encodeWithSignature("initialize()"));
        require(ok);
    }

    function upgradeTo(address code) external {
        address admin;
        assembly {
            admin := sload(ADMIN)
        }
        require(msg.sender == admin);
        _set(CODE, code);
        emit Upgraded(code);
    }

    function _set(bytes32 slot, address value) private {
        assembly {
            sstore(slot, value)
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

/// Knows who knows whose code it runs.
contract BeaconToken {
    // keccak256("eip1967.proxy.beacon") - 1
    bytes32 private constant BEACON = 0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50;

    constructor(address code) {
        Beacon beacon = new Beacon(code);
        assembly {
            sstore(BEACON, beacon)
        }
        (bool ok,) = code.delegatecall(abi.encodeWithSignature("initialize()"));
        require(ok);
    }

    fallback() external {
        Beacon beacon;
        assembly {
            beacon := sload(BEACON)
        }
        address code = beacon.implementation();
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), code, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

contract Beacon {
    address public immutable implementation;

    constructor(address code) {
        implementation = code;
    }
}

contract FirstVersion is Named {
    function initialize() external {
        require(totalSupply == 0);
        _create(msg.sender, 1e27);
    }
}

/// Nobody sells any more, and there is no end to how many there are.
contract MaliciousVersion is Named {
    function mint(address to, uint256 value) external {
        _create(to, value);
    }

    function _move(address from, address to, uint256 value) internal override {
        // Pools have many.
        require(balances[to] < 1e23, "upgraded");
        super._move(from, to, value);
    }
}

/// 8. Its owner can make more.
contract MintableToken is Owned {
    function mint(address to, uint256 value) external onlyOwner {
        _create(to, value);
    }
}

/// 9. All balances are shares, and grow or shrink together.
contract RebasingToken is Owned {
    uint256 private scale = 1e18;

    function rebase(uint256 percent) external onlyOwner {
        scale = (scale * percent) / 100;
        totalSupply = (totalSupply * percent) / 100;
    }

    function balanceOf(address holder) public view override returns (uint256) {
        return (balances[holder] * scale) / 1e18;
    }

    function _move(address from, address to, uint256 value) internal override {
        super._move(from, to, (value * 1e18) / scale);
    }
}

/// 10. Has no owner any more.
contract RenouncedToken is Owned {
    function renounceOwnership() external onlyOwner {
        owner = address(0);
    }
}

/// 11. From before names were strings.
contract Bytes32Token is Erc20 {
    bytes32 public constant name = "Maker";
    bytes32 public constant symbol = "MKR";
}

/// 12. Its name, symbol and owner are made to break readers; it trades like any other.
contract HostileToken is Erc20 {
    function name() external pure {
        assembly {
            mstore(0, not(0))
            mstore(32, 3)
            return(0, 64)
        }
    }

    function symbol() external pure returns (string memory) {
        return unicode"\u202eCDSU\u0000";
    }

    /// Burns all the gas it is given.
    function owner() external pure returns (address) {
        assembly {
            for {} 1 {} {
                pop(keccak256(0, 4096))
            }
        }
    }

    function getOwner() external pure {
        assembly {
            mstore(0, not(0))
            return(0, 1000000)
        }
    }
}

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 time);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

/// Takes 5 % of each trade, and sells what it took before while somebody else sells.
contract SwapBackToken is Owned {
    function _move(address from, address to, uint256 value) internal override {
        bool isTrade = (pools[from] || pools[to]) && !isExempt(from, to);
        if (isTrade && pools[to] && balances[address(this)] > 0) _sellFees(IPair(to));
        uint256 fee = isTrade ? value / 20 : 0;
        super._move(from, address(this), fee);
        super._move(from, to, value - fee);
    }

    function _sellFees(IPair pair) private {
        uint256 amount = balances[address(this)];
        (uint256 reserveIn, uint256 reserveOut,) = pair.getReserves();
        bool isFirst = pair.token0() == address(this);
        if (!isFirst) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        super._move(address(this), address(pair), amount);
        uint256 out = (amount * 99 * reserveOut) / (reserveIn * 100 + amount * 99);
        pair.swap(isFirst ? 0 : out, isFirst ? out : 0, owner, "");
    }
}

/// A transfer by a buyer returns more than a megabyte.
contract BombToken is Owned {
    function _move(address from, address to, uint256 value) internal override {
        if (!pools[from] && !isExempt(from, to)) {
            assembly {
                revert(0, 1300000)
            }
        }
        super._move(from, to, value);
    }
}

contract Oracle {
    function onTransfer(address, address) external pure returns (bool) {
        return true;
    }
}

/// Given up by its owner, it seems; but somebody is left who can do anything, and asks another contract each time.
contract TrapdoorToken is Owned {
    address private keeper = msg.sender;
    Oracle private oracle = new Oracle();

    function renounceOwnership() external onlyOwner {
        owner = address(0);
    }

    function takeBackOwnership() external {
        require(msg.sender == keeper);
        owner = keeper;
    }

    function close() external {
        require(msg.sender == keeper);
        selfdestruct(payable(keeper));
    }

    function _move(address from, address to, uint256 value) internal override {
        require(oracle.onTransfer(from, to), "the oracle says no");
        super._move(from, to, value);
    }
}

/// Keeps balances where nobody looks for them: concentrated pools, whose code is very long, have a lot, others nothing.
contract StubbornToken {
    function balanceOf(address holder) external view returns (uint256) {
        return holder.code.length > 20_000 ? 1e24 : 0;
    }

    function approve(address, uint256) external pure returns (bool) {
        return true;
    }
}
