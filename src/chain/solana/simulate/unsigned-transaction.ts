import { BASE58_BYTES, readBase58 } from '../../../domain/base58.ts'
import { SIGNATURE_BYTES } from '../wire-transaction.ts'

export type AccountUse = { readonly key: string; readonly isSigner?: true; readonly isWritable?: true }

export type Instruction = {
  readonly program: string
  readonly accounts: readonly AccountUse[]
  readonly data: Uint8Array
}

/** What a packet of the network holds. Nodes refuse longer transactions, in a simulation too. */
const MAX_BYTES = 1_232

/**
 * A legacy transaction without signatures and without a blockhash, which a node can only simulate. Undefined if it is too
 * long, or a key is malformed.
 */
export function unsignedTransaction(
  payer: string,
  instructions: readonly Instruction[],
): Uint8Array | undefined {
  const uses = new Map<string, { isSigner: boolean; isWritable: boolean }>()
  const use = ({ key, isSigner = false, isWritable = false }: { [Name in keyof AccountUse]: unknown }) => {
    const known = uses.get(key as string)
    uses.set(key as string, {
      isSigner: Boolean(isSigner) || known?.isSigner === true,
      isWritable: Boolean(isWritable) || known?.isWritable === true,
    })
  }
  use({ key: payer, isSigner: true, isWritable: true })
  for (const { accounts } of instructions) for (const each of accounts) use(each)
  for (const { program } of instructions) use({ key: program })
  // Signers first, and of both parts those that are written first. The payer is the first of all.
  const rank = ([, { isSigner, isWritable }]: [string, { isSigner: boolean; isWritable: boolean }]): number =>
    (isSigner ? 0 : 2) + (isWritable ? 0 : 1)
  const ordered = [...uses].sort((a, b) => rank(a) - rank(b))
  const count = (wanted: number): number => ordered.filter((each) => rank(each) === wanted).length
  const signers = count(0) + count(1)
  const places = new Map(ordered.map(([key], place) => [key, place]))
  const keys = Buffer.alloc(ordered.length * BASE58_BYTES)
  if (!ordered.every(([key], place) => readBase58(key, keys, place * BASE58_BYTES))) return undefined
  const transaction = Buffer.concat([
    shortLength(signers),
    Buffer.alloc(signers * SIGNATURE_BYTES),
    Uint8Array.of(signers, count(1), count(3)),
    shortLength(ordered.length),
    keys,
    Buffer.alloc(BASE58_BYTES),
    shortLength(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Uint8Array.of(places.get(program) ?? 0),
      shortLength(accounts.length),
      Uint8Array.from(accounts, ({ key }) => places.get(key) ?? 0),
      shortLength(data.length),
      data,
    ]),
  ])
  return transaction.length > MAX_BYTES ? undefined : transaction
}

/** Seven bits a byte, lowest first. */
function shortLength(length: number): Uint8Array {
  return length < 0x80 ? Uint8Array.of(length) : Uint8Array.of((length & 0x7f) | 0x80, length >> 7)
}
