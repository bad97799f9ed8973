import type { BlockRef } from '../../domain/envelope.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Doubt } from '../source.ts'

/** A node's head, and its block at the height of ours. */
type Testimony = { readonly head: number; readonly hash: string | undefined }

export type SecondOpinionParts<Node> = {
  readonly nodes: {
    elsewhere<T>(
      label: string,
      ask: (node: Node) => Promise<T>,
    ): Promise<{ readonly asked: number; readonly answers: readonly T[] }>
    blame(label: string, reason: string): void
  }
  /** The node that returned `suspect`; undefined if that is not known. */
  readonly label: string | undefined
  readonly suspect: BlockRef
  readonly ours: BlockRef
  readonly doubt: Doubt
  /** A node further behind than this may not have heard yet of what it is asked to contradict. */
  readonly lagBlocks: number
  readonly testify: (node: Node) => Promise<Testimony>
}

/** `doubt` of a `ChainSource`: the other nodes decide whether the one that contradicts us is believed. */
export async function secondOpinion<Node>(
  parts: SecondOpinionParts<Node>,
): Promise<'confirmed' | 'unanswered'> {
  const { nodes, label, suspect, ours, lagBlocks, testify } = parts
  const { reason, isFinal } = parts.doubt
  if (label === undefined) return 'confirmed'
  const { asked, answers } = await nodes.elsewhere(label, testify)
  const witnesses = answers.filter(({ head, hash }) => {
    return hash !== undefined && (isFinal || head >= suspect.number - lagBlocks)
  })
  if (witnesses.some(({ hash }) => hash === ours.hash)) {
    nodes.blame(label, reason)
    throw new ChaintapeError(
      'node_answer_invalid',
      `${reason}, but another node still has our block ${ours.number}`,
    )
  }
  return asked > 0 && witnesses.length === 0 ? 'unanswered' : 'confirmed'
}
