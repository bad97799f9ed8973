// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Moves itself: many transfers between many wallets in one call, some made, burned, buried or locked on the way.
contract BusyToken {
    string public constant name = "Busy";
    string public constant symbol = "BUSY";
    uint8 public constant decimals = 9;
    address private constant DEAD = 0x000000000000000000000000000000000000dEaD;
    uint256 private constant WALLETS = 700;
    address private immutable owner = msg.sender;
    address private immutable locker;

    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(address locker_) {
        locker = locker_;
        _move(address(0), msg.sender, 1e18 + 7);
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

    /// The same seed moves the same, if balances are the same.
    function moveMany(uint256 seed, uint256 count) external {
        for (uint256 each = 0; each < count; each++) {
            uint256 dice = uint256(keccak256(abi.encode(seed, each)));
            uint256 kind = (dice >> 64) % 50;
            address from = kind < 15 ? owner : kind == 15 ? locker : kind == 16 ? address(0) : walletOf(dice);
            address to = kind == 17 ? DEAD : kind == 18 ? locker : kind == 19 ? address(0) : walletOf(dice >> 16);
            if (kind == 20) to = from;
            uint256 held = from == address(0) ? 1e12 : balanceOf[from];
            // From nothing to all of it; of the owner's only a little.
            _move(from, to, (held * ((dice >> 32) % 101)) / (from == owner ? 100_000 : 100));
        }
    }

    function walletOf(uint256 dice) private pure returns (address) {
        return address(uint160(uint256(keccak256(abi.encode("wallet", (dice & 0xffff) % WALLETS)))));
    }

    function _move(address from, address to, uint256 value) private {
        if (from == address(0)) totalSupply += value;
        else balanceOf[from] -= value;
        if (to == address(0)) totalSupply -= value;
        else balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
