import { encodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import { uintAt } from '../../../dex/evm/abi.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { EvmRpc } from '../rpc/rpc.ts'
import { ASK_ACCOUNTS_CODE } from './ask-accounts-code.ts'

export type Account = { readonly balanceRaw: bigint; readonly isContract: boolean }

const PARAMETERS = parseAbiParameters('address[]')
const WORD = 32

/** Current native balances of accounts, in the same order, by one call. */
export async function askAccounts(
  rpc: Pick<EvmRpc, 'runCode'>,
  addresses: readonly string[],
): Promise<Account[]> {
  if (addresses.length === 0) return []
  const args = encodeAbiParameters(PARAMETERS, [addresses as Hex[]])
  const answer = await rpc.runCode(`${ASK_ACCOUNTS_CODE}${args.slice(2)}` as Hex, 'latest')
  const bytes = answer === undefined ? undefined : Buffer.from(answer.slice(2), 'hex')
  if (bytes?.length !== addresses.length * 2 * WORD)
    throw new ChaintapeError('node_answer_invalid', 'eth_call: result of the wrong length')
  return addresses.map((_, index) => ({
    balanceRaw: uintAt(bytes, 2 * index) ?? 0n,
    isContract: (uintAt(bytes, 2 * index + 1) ?? 0n) > 0n,
  }))
}
