import type { Answer, Call } from '../../../dex/protocol.ts'
import { base58Text, readBase58 } from '../../../domain/base58.ts'
import type { Asker, Calls } from '../../facts/asker.ts'
import type { Account } from '../account.ts'
import type { SolanaNodes } from '../rpc.ts'

/** The most that a node takes in one request. */
const MAX_AT_ONCE = 100
/** Call data that asks for an account as `readAccount` expects it; any other returns the account's data alone. */
const WHOLE_ACCOUNT = 'account'
const OWNER_BYTES = 32
const SIZE_BYTES = 4

export function accountCall(address: string): Call {
  return { to: address, data: WHOLE_ACCOUNT }
}

export function readAccount(answer: Answer): Account | undefined {
  if (answer === undefined || answer.length < OWNER_BYTES + SIZE_BYTES) return undefined
  const data = answer.subarray(OWNER_BYTES + SIZE_BYTES)
  const size = new DataView(answer.buffer, answer.byteOffset).getUint32(OWNER_BYTES)
  return { owner: base58Text(answer, 0), data, size }
}

/**
 * Reads accounts as calls. Nodes have no state by block, so the answer is the newest state, but of no slot before
 * `minSlot`; and nothing is known of the state of one block exactly.
 */
export function accountAsker(nodes: Pick<SolanaNodes, 'verified'>, minSlot: number | undefined): Asker {
  const ask = async (calls: Calls): Promise<Answer[]> => {
    const addresses = [...new Set(calls.map(({ to }) => to))]
    const found = new Map<string, Account | undefined>()
    for (let from = 0; from < addresses.length; from += MAX_AT_ONCE) {
      const asked = addresses.slice(from, from + MAX_AT_ONCE)
      const accounts = await nodes.verified((node) => node.accounts(asked, minSlot))
      for (const [index, address] of asked.entries()) found.set(address, accounts[index])
    }
    return calls.map(({ to, data }) => {
      const account = found.get(to)
      return account === undefined || data !== WHOLE_ACCOUNT ? account?.data : toAnswer(account)
    })
  }
  return { ask, askExactly: async (calls) => calls.map(() => undefined) }
}

function toAnswer({ owner, data, size }: Account): Uint8Array {
  const answer = Buffer.alloc(OWNER_BYTES + SIZE_BYTES + data.length)
  readBase58(owner, answer, 0)
  answer.writeUInt32BE(Math.min(size, 0xffff_ffff), OWNER_BYTES)
  answer.set(data, OWNER_BYTES + SIZE_BYTES)
  return answer
}
