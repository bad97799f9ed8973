import { ChaintapeError } from '../domain/errors.ts'

/** Requests go to `<prefix>.accounts.<chain>`. */
export const ACCOUNTS_TOPIC = 'accounts'
export const MAX_ACCOUNTS = 100

export type AccountAnswer = { readonly balanceRaw: bigint; readonly isContract: boolean }

const ADDRESS = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/

/**
 * A request from one process to another for native balances of accounts. It is plain text, because it is never stored.
 */
export function encodeAccountsQuestion(addresses: readonly string[]): string {
  return addresses.join(' ')
}

export function decodeAccountsQuestion(text: string): string[] {
  const addresses = text === '' ? [] : text.split(' ')
  if (addresses.length > MAX_ACCOUNTS || !addresses.every((address) => ADDRESS.test(address)))
    throw new ChaintapeError('message_unreadable', 'not a question about accounts')
  return addresses
}

export function encodeAccountsAnswer(accounts: readonly AccountAnswer[]): string {
  return accounts.map(({ balanceRaw, isContract }) => `${balanceRaw}${isContract ? 'c' : ''}`).join(' ')
}

export function decodeAccountsAnswer(text: string, count: number): AccountAnswer[] {
  const parts = text === '' ? [] : text.split(' ')
  if (parts.length !== count || !parts.every((part) => /^\d{1,78}c?$/.test(part)))
    throw new ChaintapeError('message_unreadable', 'not an answer about accounts')
  return parts.map((part) => ({
    balanceRaw: BigInt(part.replace('c', '')),
    isContract: part.endsWith('c'),
  }))
}
