/** A node of the syntax tree of `/api/v1/parse_query`. */
type SyntaxNode = { readonly type?: string; readonly [key: string]: unknown }

export type Selector = {
  readonly metric: string
  /** Labels that it selects by. */
  readonly labels: readonly string[]
  /** The function whose argument it is. */
  readonly within: string | undefined
}

/** An aggregation, with the selectors that it combines. */
export type Grouping = { readonly labels: readonly string[]; readonly selectors: readonly Selector[] }

export type ParsedQuery = { readonly selectors: readonly Selector[]; readonly groupings: readonly Grouping[] }

export function readParsedQuery(root: unknown): ParsedQuery {
  const groupings: Grouping[] = []
  const visit = (node: unknown, within: string | undefined): Selector[] => {
    if (Array.isArray(node)) return node.flatMap((each) => visit(each, within))
    if (typeof node !== 'object' || node === null) return []
    const { type, ...fields } = node as SyntaxNode
    if (type === 'vectorSelector' || type === 'matrixSelector') return [selectorOf(fields, within)]
    const inner = type === 'call' ? (fields['func'] as { name: string }).name : within
    const selectors = Object.values(fields).flatMap((field) => visit(field, inner))
    if (type === 'aggregation') groupings.push({ labels: fields['grouping'] as string[], selectors })
    return selectors
  }
  const selectors = visit(root, undefined)
  return { selectors, groupings }
}

function selectorOf(fields: SyntaxNode, within: string | undefined): Selector {
  const matchers = fields['matchers'] as readonly { readonly name: string }[]
  return {
    metric: fields['name'] as string,
    labels: matchers.map(({ name }) => name).filter((name) => name !== '__name__'),
    within,
  }
}
