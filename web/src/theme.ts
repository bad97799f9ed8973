/** `''` follows the system. */
export type Theme = '' | 'light' | 'dark'

const NAMES: readonly Theme[] = ['', 'light', 'dark']
const STORED = 'chaintape-theme'

/** A browser may refuse it to the page; colors then follow the system. */
function storage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

export function currentTheme(): Theme {
  const stored = storage()?.getItem(STORED)
  return NAMES.find((name) => name === stored) ?? ''
}

export function isDark(): boolean {
  const theme = currentTheme()
  return theme === '' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
}

/** The other one of light and dark; the system's own choice is not stored. */
export function toggleTheme(): void {
  const wanted: Theme = isDark() ? 'light' : 'dark'
  const isSystem = matchMedia('(prefers-color-scheme: dark)').matches === (wanted === 'dark')
  if (isSystem) storage()?.removeItem(STORED)
  else storage()?.setItem(STORED, wanted)
  applyTheme()
}

const listeners = new Set<() => void>()

/** Calls back whenever colors change; returns a function that ends it. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function applyTheme(): void {
  document.documentElement.dataset['theme'] = isDark() ? 'dark' : 'light'
  for (const listener of listeners) listener()
}

applyTheme()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme)
