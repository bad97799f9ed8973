/** Shown where a value is unknown; never a zero. */
export const UNKNOWN = '–'

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉'
const MONEY_STEPS = [
  { from: 1e12, suffix: 'T' },
  { from: 1e9, suffix: 'B' },
  { from: 1e6, suffix: 'M' },
  { from: 1e3, suffix: 'K' },
]
const AGE_STEPS = [
  { seconds: 86_400, suffix: 'd' },
  { seconds: 3_600, suffix: 'h' },
  { seconds: 60, suffix: 'm' },
  { seconds: 1, suffix: 's' },
]
/** Three digits of this part of a step are the whole step. */
const ROUNDED_UP = 0.9995
const PRICE_DIGITS = 5
/** Made once: making one takes longer than all the rest of a row. */
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const DAY_AND_CLOCK = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
})
const ZEROS_SHOWN = 3

/** A decimal of the interface as a number to compare or draw; undefined if it is unknown. */
export function toNumber(text: string | number | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** `1,234.5`, `0.0123`, `0.0₆1234`: five significant digits, and many zeros as their count. */
export function formatPrice(given: string | number | undefined): string {
  const value = toNumber(given)
  if (value === undefined) return UNKNOWN
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1_000) return value.toLocaleString('en-US', { maximumFractionDigits: size >= 100_000 ? 0 : 2 })
  const exponent = Math.floor(Math.log10(size))
  // Beyond the digits that `toFixed` has.
  if (exponent < -90) return value.toExponential(PRICE_DIGITS - 1)
  const text = value.toFixed(Math.max(2, PRICE_DIGITS - 1 - exponent)).replace(/(\.\d{2}\d*?)0+$/, '$1')
  const [, sign = '', zeros = '', digits = ''] = /^(-?)0\.(0+)(\d+)$/.exec(text) ?? []
  return zeros.length > ZEROS_SHOWN ? `${sign}0.0${subscript(zeros.length)}${digits}` : text
}

/** `$1.23M`; small amounts with cents. */
export function formatUsd(given: string | number | undefined): string {
  const value = toNumber(given)
  if (value === undefined) return UNKNOWN
  return `${value < 0 ? '-' : ''}$${compact(Math.abs(value))}`
}

/** `12.3K`: amounts of tokens. */
export function formatAmount(given: string | number | undefined): string {
  const value = toNumber(given)
  if (value === undefined) return UNKNOWN
  return `${value < 0 ? '-' : ''}${compact(Math.abs(value))}`
}

export function formatCount(given: string | number | undefined): string {
  return toNumber(given)?.toLocaleString('en-US') ?? UNKNOWN
}

/** `+1.2%` of a number that is a percentage already. */
export function formatChange(given: string | number | undefined): string {
  const value = toNumber(given)
  if (value === undefined) return UNKNOWN
  const size = Math.abs(value)
  const few = size.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
  const digits = size >= 100_000 ? compact(size) : size >= 1_000 ? formatCount(Math.round(size)) : few
  return `${value > 0 ? '+' : value < 0 ? '-' : ''}${digits}%`
}

/** `12.3%` of a fraction of 1. */
export function formatShare(given: string | number | undefined): string {
  const value = toNumber(given)
  if (value === undefined) return UNKNOWN
  const percent = value * 100
  return percent > 0 && percent < 0.01 ? '<0.01%' : `${percent.toFixed(percent >= 10 ? 1 : 2)}%`
}

/** `3m`: how long ago, in the largest unit. */
export function formatAge(time: number | undefined, now: number): string {
  if (time === undefined) return UNKNOWN
  const seconds = Math.max(0, Math.floor(now - time))
  const step = AGE_STEPS.find((one) => seconds >= one.seconds)
  return step === undefined ? '0s' : `${Math.floor(seconds / step.seconds)}${step.suffix}`
}

/** `850 ms`, `1.2 s`, `3m`: an age in milliseconds. */
export function formatLag(lag: number | undefined): string {
  if (lag === undefined) return UNKNOWN
  if (lag < 1_000) return `${lag} ms`
  return lag < 60_000 ? `${(lag / 1_000).toFixed(1)} s` : formatAge(0, lag / 1_000)
}

/** Per second, of a count in a minute. */
export function formatRate(count: number | undefined): string {
  return count === undefined ? UNKNOWN : (count / 60).toFixed(2)
}

/** `14:05:09`, in the zone of the visitor. */
export function formatTime(time: number): string {
  return CLOCK.format(time * 1_000)
}

/** `18 Nov, 14:05:09`, in the zone of the visitor. */
export function formatDateTime(time: number): string {
  return DAY_AND_CLOCK.format(time * 1_000)
}

/** `0x1234…cdef` */
export function shortAddress(address: string): string {
  return address.length <= 14 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`
}

/** The sign of a change, as a class name. */
export function direction(given: string | number | undefined): 'up' | 'down' | 'flat' {
  const value = toNumber(given) ?? 0
  return value > 0 ? 'up' : value < 0 ? 'down' : 'flat'
}

function compact(size: number): string {
  // What would be rounded to 1000K is 1.00M.
  const step = MONEY_STEPS.find(({ from }) => size >= from * ROUNDED_UP)
  if (step !== undefined) {
    const scaled = size / step.from
    return `${scaled.toFixed(scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2)}${step.suffix}`
  }
  if (size === 0) return '0'
  if (size < 0.01) return formatPrice(size)
  return size.toFixed(size >= 100 ? 0 : 2)
}

function subscript(count: number): string {
  return [...String(count)].map((digit) => SUBSCRIPTS[Number(digit)] ?? '').join('')
}
