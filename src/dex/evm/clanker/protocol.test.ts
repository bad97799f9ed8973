import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, parseAbiItem } from 'viem'
import { lead } from '../../../../test/support/builders/inquiry.ts'
import { rawLog, spoiled, withWord } from '../../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import { clanker } from './protocol.ts'

const FACTORY = '0xe85a59c628f7d27878aceb4bf3b35733630083a9'
const TOKEN = `0x${'7'.repeat(40)}`
const OTHER = `0x${'5'.repeat(40)}`

/** An event with the token where its parameter is `tokenAddress`, written by viem. */
function created(signature: string): RawLog {
  const event = parseAbiItem(`event ${signature}`) as unknown as AbiEvent
  const values = event.inputs.map((input) => {
    if (input.name === 'tokenAddress') return TOKEN
    if (input.type === 'address') return OTHER
    if (input.type === 'address[]') return [OTHER, OTHER]
    if (input.type === 'bytes32') return `0x${'9'.repeat(64)}`
    if (input.type === 'string') return `some ${input.name} of more than 32 characters`
    return input.type === 'int24' ? -230_400 : input.type === 'uint8' ? 3 : 5n
  })
  const indexed = Object.fromEntries(
    event.inputs.flatMap(({ name, indexed }, at) => (indexed ? [[name, values[at]]] : [])),
  )
  const data = event.inputs.flatMap((input, at) => (input.indexed ? [] : [{ input, value: values[at] }]))
  return rawLog(
    FACTORY,
    encodeEventTopics({ abi: [event], args: indexed }) as string[],
    encodeAbiParameters(
      data.map(({ input }) => input),
      data.map(({ value }) => value),
    ),
  )
}

/** As in the ABIs of clanker-devco/clanker-sdk. */
const VERSIONS = {
  v0: 'TokenCreated(address tokenAddress, uint256 lpNftId, address deployer, string name, string symbol, uint256 supply, uint256 _supply, address lockerAddress)',
  'v1 and v2':
    'TokenCreated(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name, string symbol, uint256 supply, address lockerAddress, string castHash)',
  v3: 'TokenCreated(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name, string symbol, uint256 supply, string castHash)',
  'v3.1':
    'TokenCreated(address indexed tokenAddress, address indexed creatorAdmin, address indexed interfaceAdmin, address creatorRewardRecipient, address interfaceRewardRecipient, uint256 positionId, string name, string symbol, int24 startingTickIfToken0IsNewToken, string metadata, uint256 amountTokensBought, uint256 vaultDuration, uint8 vaultPercentage, address msgSender)',
  v4: 'TokenCreated(address msgSender, address indexed tokenAddress, address indexed tokenAdmin, string tokenImage, string tokenName, string tokenSymbol, string tokenMetadata, string tokenContext, int24 startingTick, address poolHook, bytes32 poolId, address pairedToken, address locker, address mevModule, uint256 extensionsSupply, address[] extensions)',
}

function read(log: RawLog) {
  return clanker.tokenEvents?.[log.topics[0] ?? '']?.(log)
}

describe('a token is created', () => {
  for (const [version, signature] of Object.entries(VERSIONS)) {
    test(`by ${version}`, () => {
      const log = created(signature)
      assert.deepEqual(read(log), { type: 'tokenLaunched', token: TOKEN })
      for (const altered of spoiled(log)) assert.equal(read(altered), undefined)
    })
  }

  test('and nothing else is read', () => {
    assert.equal(Object.keys(clanker.tokenEvents ?? {}).length, Object.keys(VERSIONS).length)
    assert.deepEqual([clanker.announcements, clanker.events], [{}, {}])
  })

  test('unless a parameter is not of its type', () => {
    const log = created(VERSIONS.v4)
    assert.equal(read(withWord(log, 9, 1n << 200n)), undefined, 'the paired token is no address')
    assert.equal(read(withWord(log, 2, 2n ** 32n - 32n)), undefined, 'the name is nowhere')
    assert.equal(read(withWord(log, 13, 1n)), undefined, 'the list is nowhere')
    assert.equal(read({ ...log, topics: [...log.topics, log.topics[1] ?? ''] }), undefined, 'a topic more')
  })
})

test('no pool belongs to the platform itself', () => {
  const deployments = [{ amm: 'clanker', protocol: 'clanker', factory: FACTORY }]
  const { found, rounds } = lead(clanker.identify(TOKEN, deployments), {})
  assert.deepEqual([found, rounds], [undefined, []])
})
