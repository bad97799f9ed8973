import { type JSX, Show } from 'solid-js'
import { direction, formatChange, formatPrice } from './format.ts'
import { isKeyEnded } from './market-data.ts'

/** A price with its exact value as a title: many zeros are shown as a count. */
export function Price(props: { readonly value: string | undefined }): JSX.Element {
  return (
    <span class="number" title={props.value ? `$${props.value}` : 'unknown'}>
      {formatPrice(props.value)}
    </span>
  )
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

function messageOf(error: unknown): string {
  if (isKeyEnded(error)) return 'the key of this page is no longer valid; reload the page'
  return error instanceof Error ? error.message : String(error)
}
