/** The text of the first heading of a page. */
export function titleOf(text: string): string {
  const title = /^# (.+)$/m.exec(text)?.[1]
  if (title === undefined) throw new Error('the page has no heading')
  return title
}

/** The first paragraph of prose after the heading, on one line. */
export function summaryOf(text: string): string {
  const [, ...paragraphs] = text.slice(text.search(/^# /m)).split(/\n\n+/)
  const first = paragraphs.find((paragraph) => /^[A-Z`_*[]/.test(paragraph)) ?? ''
  return first.replace(/\s+/g, ' ').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

/** The fragment of a heading, as GitHub makes it. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}
