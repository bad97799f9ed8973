import type { TransfersFact } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { factCodec } from './fact-codec.ts'

/** Requests go to `<prefix>.imports.<chain>`, from `chaintape holders import` to the leading reader. */
export const IMPORTS_TOPIC = 'imports'

/** `state` also keeps the reader from reading the history on for a minute. */
export type ImportQuestion =
  | { readonly kind: 'state'; readonly address: string }
  | { readonly kind: 'import'; readonly from: number; readonly fact: TransfersFact }

/** The blocks that are still to be read; `final`: the latest block that cannot be undone. */
export type ImportState = { readonly from: number; readonly upTo: number; readonly final: number }

/** `read`: nothing is open; `refused`: why the balances were not taken. */
export type ImportAnswer = ImportState | 'read' | 'taken' | { readonly refused: string }

export function encodeImportQuestion(question: ImportQuestion): string {
  if (question.kind === 'state') return `state ${question.address}`
  const w = new ByteWriter()
  factCodec.write(w, question.fact)
  return `import ${question.from} ${Buffer.from(w.finish()).toString('base64')}`
}

export function decodeImportQuestion(text: string): ImportQuestion {
  const [kind, first = '', second = ''] = text.split(' ')
  if (kind === 'state' && /^0x[0-9a-f]{40}$/.test(first)) return { kind, address: first }
  if (kind !== 'import' || !/^\d{1,15}$/.test(first)) throw unreadable('not a question about an import')
  const r = new ByteReader(Buffer.from(second, 'base64'))
  const fact = factCodec.read(r)
  r.end()
  if (fact.type !== 'transfers') throw unreadable('not a list of balances')
  return { kind, from: Number(first), fact }
}

export function encodeImportAnswer(answer: ImportAnswer): string {
  return JSON.stringify(answer)
}

export function decodeImportAnswer(text: string): ImportAnswer {
  return JSON.parse(text) as ImportAnswer
}

function unreadable(message: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', message)
}
