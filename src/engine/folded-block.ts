import type { ChangeSetWriter } from '../wire/change-set-writer.ts'
import type { OpenedBlock } from '../wire/envelope-codec.ts'
import type { BlockRecords } from './block-records.ts'
import type { DeferredDocuments } from './deferred-documents.ts'
import type { BlockMoves } from './holders/block-moves.ts'
import type { ReferencePrices } from './price/reference-prices.ts'
import type { EngineSettings } from './settings.ts'
import type { EngineTables } from './tables.ts'

/** A block that is being folded, and what the parts of its fold share. */
export type FoldedBlock = {
  readonly block: OpenedBlock
  readonly settings: EngineSettings
  readonly tables: EngineTables
  readonly records: BlockRecords
  readonly reference: ReferencePrices
  readonly moves: BlockMoves
  readonly changes: ChangeSetWriter
  readonly deferred: DeferredDocuments
}
