import { type JSX, Show } from 'solid-js'
import { direction, formatChange, formatPrice, UNKNOWN } from './format.ts'
import { isKeyEnded } from './market-data.ts'

const SOME_RISK = 25
const HIGH_RISK = 60

/** A price in dollars with its exact value as a title: many zeros are shown as a count. */
export function Price(props: { readonly value: string | undefined }): JSX.Element {
  return (
    <span class="number" title={props.value ? `$${props.value}` : 'unknown'}>
      {props.value ? `$${formatPrice(props.value)}` : UNKNOWN}
    </span>
  )
}

/** A token's letter on a color of its address: an imitation has another color. Logos would be loaded from other hosts. */
export function Avatar(props: { readonly address: string; readonly symbol: string }): JSX.Element {
  return (
    <svg class="avatar" viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="10" cy="10" r="10" fill={`hsl(${hueOf(props.address)} 45% 36%)`} />
      <text x="10" y="10" dy="0.35em" text-anchor="middle" fill="#fff">
        {[...props.symbol][0]?.toUpperCase() ?? '?'}
      </text>
    </svg>
  )
}

/** The score of 100, in a color if it is high. */
export function RiskScore(props: { readonly score: number | undefined }): JSX.Element {
  const color = (): string => {
    const score = props.score ?? 0
    return score >= HIGH_RISK ? 'down' : score >= SOME_RISK ? 'warn' : ''
  }
  return <span class={`number ${color()}`}>{props.score ?? UNKNOWN}</span>
}

/** Color and sign both show the direction. */
export function Change(props: { readonly value: string | undefined }): JSX.Element {
  return <span class={`number ${direction(props.value)}`}>{formatChange(props.value)}</span>
}

/** What went wrong, in words; nothing if there is no error. */
export function Problem(props: { readonly error: unknown; readonly what: string }): JSX.Element {
  return (
    <Show when={props.error !== undefined}>
      <p class="problem" role="status">
        {props.what}: {messageOf(props.error)}
      </p>
    </Show>
  )
}

/** Stands where data will be. */
export function Waiting(props: { readonly what: string }): JSX.Element {
  return <p class="waiting">{props.what} …</p>
}

export function Copyable(props: { readonly text: string; readonly shown: string }): JSX.Element {
  return (
    <button
      type="button"
      class="copyable"
      title={`Copy ${props.text}`}
      onClick={() => void navigator.clipboard?.writeText(props.text)}
    >
      {props.shown}
    </button>
  )
}

/** A member of a `dl`. */
export function Figure(props: { readonly name: string; readonly children: JSX.Element }): JSX.Element {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd class="number">{props.children}</dd>
    </div>
  )
}

function hueOf(address: string): number {
  let sum = 0
  for (const letter of address) sum = (sum * 31 + letter.charCodeAt(0)) % 360
  return sum
}

function messageOf(error: unknown): string {
  if (isKeyEnded(error)) return 'the key of this page is no longer valid; reload the page'
  return error instanceof Error ? error.message : String(error)
}
