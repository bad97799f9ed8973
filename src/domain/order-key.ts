/**
 * Position of an event in its chain: block, transaction index and log index in the block. Every stage orders events by
 * it, because timestamps tie within a block.
 */
export type OrderKey = { readonly block: number; readonly tx: number; readonly log: number }

// Six digits each: no known chain has a million transactions or logs in one block. Fixed widths keep the decimal form
// readable and, at equal length, in chain order.
const WIDTH = 6
const LIMIT = 10 ** WIDTH

export function compareOrderKeys(a: OrderKey, b: OrderKey): number {
  return a.block - b.block || a.tx - b.tx || a.log - b.log
}

export function sameOrderKey(a: OrderKey, b: OrderKey): boolean {
  return a === b || (a.block === b.block && a.tx === b.tx && a.log === b.log)
}

export function formatOrderKey(key: OrderKey): string {
  const { block, tx, log } = key
  if (!isIndex(tx) || !isIndex(log) || !Number.isSafeInteger(block) || block < 0) {
    throw new RangeError(`order key out of range: ${block}/${tx}/${log}`)
  }
  return `${block}${pad(tx)}${pad(log)}`
}

export function parseOrderKey(text: string): OrderKey | undefined {
  // No leading zeros, so each key has exactly one text.
  if (!/^(?:0|[1-9]\d{0,15})\d{12}$/.test(text)) return undefined
  const block = Number(text.slice(0, -2 * WIDTH))
  if (!Number.isSafeInteger(block)) return undefined
  return { block, tx: Number(text.slice(-2 * WIDTH, -WIDTH)), log: Number(text.slice(-WIDTH)) }
}

/** The public id of a swap: block number and in-block index, joined by a hyphen. */
export function publicEventId(key: OrderKey): string {
  return `${key.block}-${key.log}`
}

function isIndex(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < LIMIT
}

function pad(value: number): string {
  return String(value).padStart(WIDTH, '0')
}
