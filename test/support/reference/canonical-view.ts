import assert from 'node:assert/strict'
import type { BlockEnvelope, BlockRef, Envelope } from '../../../src/domain/envelope.ts'

/** The chain as seen by a consumer of the BLOCKS log alone; every step is checked on the way. */
export class CanonicalView {
  /** The blocks that stand, oldest first. */
  readonly blocks: BlockEnvelope[] = []
  /** The latest final block, once the log had one. */
  final: BlockRef | undefined
  /** The last valid block of each undo. */
  readonly undos: BlockRef[] = []
  /** Where the log starts: the block before its first one. */
  #start: BlockRef | undefined

  static of(envelopes: Iterable<Envelope>): CanonicalView {
    const view = new CanonicalView()
    for (const envelope of envelopes) view.apply(envelope)
    return view
  }

  get tip(): BlockRef | undefined {
    const newest = this.blocks.at(-1)
    return newest === undefined ? this.#start : { number: newest.number, hash: newest.hash }
  }

  blockAt(number: number): BlockEnvelope | undefined {
    const oldest = this.blocks[0]
    return oldest === undefined ? undefined : this.blocks[number - oldest.number]
  }

  apply(envelope: Envelope): void {
    switch (envelope.kind) {
      case 'block':
        this.#block(envelope)
        break
      case 'undo':
        this.#undo(envelope.lastValid)
        break
      case 'final':
        this.#finalise(envelope.upTo)
        break
      case 'settings':
        break
    }
  }

  #block(block: BlockEnvelope): void {
    const { number, parentHash } = block
    this.#start ??= { number: number - 1, hash: parentHash }
    assert.equal(number, (this.tip as BlockRef).number + 1, 'a block stands right above the one before it')
    assert.equal(parentHash, this.tip?.hash, `block ${number} names the one before it as its parent`)
    this.blocks.push(block)
  }

  #undo(lastValid: BlockRef): void {
    assert.ok(this.blocks.length > 0 && lastValid.number < (this.tip as BlockRef).number, 'nothing to undo')
    assert.ok(lastValid.number >= (this.final?.number ?? -1), `undo to ${lastValid.number}: that is final`)
    this.undos.push({ ...lastValid })
    while ((this.blocks.at(-1)?.number ?? -1) > lastValid.number) this.blocks.pop()
    assert.deepEqual({ ...lastValid }, this.tip, 'the last valid block is one that stands')
  }

  #finalise(upTo: BlockRef): void {
    assert.ok(upTo.number > (this.final?.number ?? -1), 'finality only rises')
    assert.equal(this.blockAt(upTo.number)?.hash, upTo.hash, `final block ${upTo.number} is one that stands`)
    this.final = { ...upTo }
  }
}
