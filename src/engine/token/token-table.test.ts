import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { token as anyToken } from '../../../test/support/arbitraries/change-arbitraries.ts'
import { evmAddress, evmHash, plain, uint256 } from '../../../test/support/arbitraries/value-arbitraries.ts'
import { MemoryState } from '../../../test/support/rigs/memory-state.ts'
import type { Token } from '../../domain/change.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { writeToken } from '../../wire/record-codec.ts'
import type { PairDepth } from '../pair/depth.ts'
import { TokenTable } from './token-table.ts'
import type { TokenView } from './token-view.ts'
import { writeTokenRow } from './write-token.ts'

const ADDRESS = `0x${'ab'.repeat(20)}`
const MAX_U32 = 2 ** 32

const depth = plain<PairDepth>({ pair: fc.oneof(evmAddress, evmHash), tvlUsd: uint256, depthUsd: uint256 })

/** A token as a block leaves it, and its pairs. */
const version = fc.record({
  token: anyToken,
  creator: evmAddress,
  targetPairs: fc.uniqueArray(depth, { maxLength: 3, selector: ({ pair }) => pair }),
  isCommitted: fc.boolean(),
})

type Version = typeof version extends fc.Arbitrary<infer Made> ? Made : never

test('a token reads and is published as it was written, after commits and undone blocks', () => {
  fc.assert(
    fc.property(fc.array(version, { minLength: 1, maxLength: 6 }), (made) => {
      const committed = new MemoryState()
      let state = new JournaledState(committed)
      let table = new TokenTable(state)
      const versions = made.map((each) => ({ ...each, token: tokenOf(each, made[0]?.token as Token) }))
      for (const [block, { token, targetPairs, isCommitted }] of versions.entries()) {
        const view = table.get(ADDRESS) ?? table.create(token)
        set(view, token, targetPairs)
        check(view, token, targetPairs)
        state.sealBlock(block)
        if (!isCommitted) continue
        committed.write(state.pending())
        state.committed()
        state = new JournaledState(committed)
        table = new TokenTable(state)
        check(table.get(ADDRESS) ?? assert.fail(), token, targetPairs)
      }
      for (let block = versions.length - 1; block > 0; block--) {
        const { token, targetPairs } = versions[block - 1] ?? assert.fail()
        const restored = state.undoBlocks(block, block).find((each) => each.table === 'token')?.restored
        table.close()
        if (restored !== undefined) assert.deepEqual(table.read(ADDRESS, restored), token)
        check(table.get(ADDRESS) ?? assert.fail(), token, targetPairs)
      }
      state.undoBlocks(0, 0)
      table.close()
      assert.equal(table.get(ADDRESS), undefined)
    }),
  )
})

/** Names never change, numbers and ids fit the row, and the main pair is one of the pairs. */
function tokenOf({ token, creator, targetPairs: [main] }: Version, { name, symbol, decimals }: Token): Token {
  const { holding, origin, launch, platform } = token
  return {
    ...token,
    ...{ address: ADDRESS, name, symbol, decimals },
    mainPair: main?.pair,
    mainPairTvlUsd: main?.tvlUsd,
    holding: holding && { ...holding, holders: holding.holders && holding.holders % MAX_U32 },
    origin: origin && { creator, time: origin.time % MAX_U32 },
    launch: launch && { ...launch, time: launch.time % MAX_U32 },
    platform: platform && {
      ...platform,
      name: 'curve',
      createdAt: platform.createdAt && platform.createdAt % MAX_U32,
      graduatedAt: platform.graduatedAt && platform.graduatedAt % MAX_U32,
    },
    updatedAt: token.updatedAt % MAX_U32,
  }
}

function set(view: TokenView, token: Token, targetPairs: readonly PairDepth[]): void {
  const { supplyRaw, priceUsd, priceNative, tvlUsd, fdvUsd, marketCapUsd, updatedAt } = token
  const { holding, origin, launch, platform, risk } = token
  view.edit()
  view.setPairs(targetPairs, targetPairs[0], targetPairs[0]?.tvlUsd)
  view.firstTrade = launch
  Object.assign(view, { supplyRaw, priceUsd, priceNative, tvlUsd, fdvUsd, marketCapUsd, updatedAt })
  Object.assign(view, { holding, origin, launch, platform, risk })
}

function check(view: TokenView, token: Token, targetPairs: readonly PairDepth[]): void {
  assert.deepEqual(view.targetPairs, targetPairs)
  const published = new ByteWriter()
  writeTokenRow(published, view)
  const encoded = new ByteWriter()
  writeToken(encoded, token)
  assert.deepEqual(published.finish(), encoded.finish())
  const other = new ByteWriter()
  writeToken(other, view)
  assert.deepEqual(other.finish(), encoded.finish(), 'as its properties say')
}
