// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IManager {
    function take(address currency, address to, uint256 amount) external;
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(PoolKey calldata key, SwapParams calldata params, bytes calldata data) external returns (int256);
}

/// Hooks of Uniswap V4 around swaps. The native coin is the quote, so a swap of the second currency is a sale.
contract QuietHooks {
    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        if (!params.zeroForOne) onSale(key, params);
        else onPurchase();
        return (this.beforeSwap.selector, 0, 0);
    }

    function afterSwap(address, PoolKey calldata key, SwapParams calldata params, int256 delta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        return (this.afterSwap.selector, params.zeroForOne ? int128(0) : afterSale(key, int128(delta >> 128)));
    }

    function onPurchase() internal virtual {}
    function onSale(PoolKey calldata key, SwapParams calldata params) internal virtual {}

    function afterSale(PoolKey calldata, int128) internal virtual returns (int128) {
        return 0;
    }

    receive() external payable {}
}

contract ClosedHooks is QuietHooks {
    function onPurchase() internal pure override {
        revert("closed");
    }
}

contract OneWayHooks is QuietHooks {
    function onSale(PoolKey calldata, SwapParams calldata) internal pure override {
        revert("no sales");
    }
}

/// Keeps all that a sale yields, but one unit.
contract GreedyHooks is QuietHooks {
    function afterSale(PoolKey calldata key, int128 amount) internal override returns (int128) {
        IManager(msg.sender).take(key.currency0, address(this), uint128(amount) - 1);
        return amount - 1;
    }
}

contract BurningHooks is QuietHooks {
    function onSale(PoolKey calldata, SwapParams calldata) internal pure override {
        assembly {
            for {} 1 {} {
                pop(keccak256(0, 4096))
            }
        }
    }
}

/// Reverts with a megabyte.
contract BombHooks is QuietHooks {
    function onSale(PoolKey calldata, SwapParams calldata) internal pure override {
        assembly {
            revert(0, 1000000)
        }
    }
}

/// Opens a second session inside the first.
contract ReenteringHooks is QuietHooks {
    function onSale(PoolKey calldata, SwapParams calldata) internal override {
        IManager(msg.sender).unlock("");
    }
}

/// Takes tokens and pays nothing for them, so the session cannot end.
contract IndebtedHooks is QuietHooks {
    function onSale(PoolKey calldata key, SwapParams calldata) internal override {
        IManager(msg.sender).take(key.currency0, address(this), 1);
    }
}
