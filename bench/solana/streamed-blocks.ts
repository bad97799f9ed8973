import { createHash } from 'node:crypto'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { base58Text } from '../../src/domain/base58.ts'
import { SolanaScenario } from '../../test/e2e/solana-scenario.ts'
import { hasSolanaRecordings, rawTransactions } from '../../test/support/recorded/recorded-solana.ts'
import {
  encodeUpdate,
  toBlockMessage,
  toTransactionInfo,
} from '../../test/support/rigs/yellowstone-messages.ts'

type TokenBalance = NonNullable<SubscribeUpdateTransactionInfo['meta']>['preTokenBalances'][number]

const WALLETS = 10_000
const FIRST_SLOT = 300_000_000
const FIRST_HEIGHT = 280_000_000
const FIRST_TIME = 1_750_000_000

/** Messages of a stream: real transactions over and over, each with its own signature, fee payer and token accounts. */
export function streamedBlocks(blocks: number, perBlock: number): Buffer[] {
  const templates = templatesOf()
  let nth = 0
  return Array.from({ length: blocks }, (_, at) => {
    const transactions = Array.from({ length: perBlock }, (_, index) =>
      copyOf(templates[nth % templates.length] as SubscribeUpdateTransactionInfo, nth++, index),
    )
    const header = {
      number: FIRST_HEIGHT + at,
      hash: hashText(at),
      parentHash: hashText(at - 1),
      time: FIRST_TIME + at,
    }
    const slot = FIRST_SLOT + at
    return encodeUpdate({ block: toBlockMessage(header, slot, slot - 1, transactions) })
  })
}

/** The hash of a block, by its number. */
export function hashText(number: number): string {
  return base58Text(digest(`block ${number}`), 0)
}

function templatesOf(): SubscribeUpdateTransactionInfo[] {
  if (hasSolanaRecordings) return rawTransactions().map(toTransactionInfo)
  console.log('no recorded transactions: measuring those of a synthetic market')
  const scenario = new SolanaScenario()
  scenario.open()
  scenario.trade(30)
  return scenario.market
    .canonical()
    .flatMap(({ entries }) => entries.map(({ rpc }, index) => toTransactionInfo(rpc, index)))
}

function copyOf(
  template: SubscribeUpdateTransactionInfo,
  nth: number,
  index: number,
): SubscribeUpdateTransactionInfo {
  const { transaction } = template
  const message = transaction?.message
  if (message === undefined) throw new Error('a transaction without a message')
  const half = digest(`transaction ${nth}`)
  const signature = Buffer.concat([half, half])
  const payer = base58Text(message.accountKeys[0] as Uint8Array, 0)
  const wallet = `wallet ${nth % WALLETS}`
  const accountKeys = [digest(wallet), ...message.accountKeys.slice(1)]
  const owner = base58Text(digest(wallet), 0)
  const moved = (balances: readonly TokenBalance[]): TokenBalance[] =>
    balances.map((balance) => {
      if (balance.owner !== payer) return balance
      const { accountIndex, mint } = balance
      if (accountIndex < accountKeys.length)
        accountKeys[accountIndex] = digest(`${wallet} ${accountIndex} ${mint}`)
      return { ...balance, owner }
    })
  const preTokenBalances = moved(template.meta?.preTokenBalances ?? [])
  const postTokenBalances = moved(template.meta?.postTokenBalances ?? [])
  return {
    ...{ ...template, signature, index: String(index) },
    transaction: { signatures: [signature], message: { ...message, accountKeys } },
    meta: template.meta && { ...template.meta, preTokenBalances, postTokenBalances },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
