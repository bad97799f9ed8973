import { base58Text } from '../../domain/base58.ts'
import { TOKEN_PROGRAM } from './known-keys.ts'
import type { SolanaInstruction, SolanaTransaction } from './transaction.ts'

const BATCH = 0xff
const KEY_BYTES = 32

/**
 * The token program can execute several of its instructions in one call (p-token's `batch`), which no list of inner
 * instructions shows. They follow their batch here, one level below it.
 */
export function withBatchedCalls(transaction: SolanaTransaction): SolanaTransaction {
  const { instructions, keys } = transaction
  const isBatch = ({ program, data }: SolanaInstruction): boolean =>
    data[0] === BATCH && isTokenProgram(keys[program])
  if (!instructions.some(isBatch)) return transaction
  const all = instructions.flatMap((each) => (isBatch(each) ? [each, ...batchedIn(each)] : [each]))
  return { ...transaction, instructions: all }
}

/** For each instruction: the number of its accounts, the size of its data, its data. Empty if the sizes do not fit. */
function batchedIn({ program, accounts, data, stackHeight }: SolanaInstruction): SolanaInstruction[] {
  const found: SolanaInstruction[] = []
  let account = 0
  let at = 1
  while (at + 2 <= data.length) {
    const accountCount = data[at] as number
    const size = data[at + 1] as number
    const end = at + 2 + size
    if (size === 0 || end > data.length || account + accountCount > accounts.length) return []
    found.push({
      program,
      accounts: accounts.subarray(account, account + accountCount),
      data: data.subarray(at + 2, end),
      stackHeight: stackHeight + 1,
    })
    account += accountCount
    at = end
  }
  return at === data.length ? found : []
}

function isTokenProgram(key: Uint8Array | undefined): boolean {
  return key?.length === KEY_BYTES && base58Text(key, 0) === TOKEN_PROGRAM
}
