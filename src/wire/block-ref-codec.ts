import type { BlockRef } from '../domain/envelope.ts'
import { id, record, varuint } from './codec.ts'

export const blockRefCodec = record<BlockRef>({ number: varuint, hash: id })
