// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Run as code that is never deployed: asks contracts in one go and returns, for each, one word (0 if the call
/// failed, else the answer's length plus one) and the answer, cut at `maxBytes`.
contract Multicall {
    constructor(uint256 gasEach, uint256 maxBytes, address[] memory targets, bytes[] memory calls) {
        bytes memory out = new bytes(targets.length * (32 + maxBytes));
        uint256 start;
        assembly {
            start := add(out, 32)
        }
        uint256 at = start;
        for (uint256 i = 0; i < targets.length; i++) {
            // With less than promised a call could fail for want of gas that its contract is not to blame for.
            require(gasleft() > gasEach + gasEach / 32 + 100_000);
            address target = targets[i];
            bytes memory data = calls[i];
            assembly {
                let ok := staticcall(gasEach, target, add(data, 32), mload(data), 0, 0)
                let size := returndatasize()
                if gt(size, maxBytes) { size := maxBytes }
                if iszero(ok) { size := 0 }
                mstore(at, mul(ok, add(size, 1)))
                returndatacopy(add(at, 32), 0, size)
                at := add(at, add(32, size))
            }
        }
        // What is returned counts as the code of a contract, and such code has a limit.
        require(at - start <= 24_000);
        assembly {
            return(start, sub(at, start))
        }
    }
}
