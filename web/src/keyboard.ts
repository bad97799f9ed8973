export type Shortcut = { readonly keys: readonly string[]; readonly does: string; readonly run: () => void }

/** Single keys, unless the visitor is typing or holds another key. */
export function handleShortcuts(shortcuts: () => readonly Shortcut[]): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const { target, key } = event
    const isTyping =
      target instanceof HTMLInputElement ||
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLElement && target.isContentEditable)
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    // Escape is the browser's own key, but for leaving a field.
    if (isTyping !== (key === 'Escape') || document.querySelector('dialog[open]') !== null) return
    const found = shortcuts().find(({ keys }) => keys.includes(key))
    if (found === undefined) return
    event.preventDefault()
    found.run()
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}

/** Moves the focus between the links of rows; from outside the rows, to the first one. */
export function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row-link]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
