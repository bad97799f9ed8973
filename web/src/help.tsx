import { For, type JSX, onMount } from 'solid-js'
import type { Shortcut } from './keyboard.ts'

const NAMES: Readonly<Record<string, string>> = { ArrowDown: '↓', ArrowUp: '↑', Escape: 'Esc' }

export function Help(props: {
  readonly shortcuts: readonly Shortcut[]
  readonly onClose: () => void
}): JSX.Element {
  let dialog: HTMLDialogElement | undefined
  onMount(() => dialog?.showModal())
  const shown = (keys: readonly string[]): readonly string[] =>
    keys.length > 3 ? ['1', '…', '0'] : keys.map((key) => NAMES[key] ?? key)
  return (
    <dialog ref={(element) => (dialog = element)} onClose={props.onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        <For each={props.shortcuts}>
          {({ keys, does }) => (
            <div>
              <dt>
                <For each={shown(keys)}>{(key) => <kbd>{key}</kbd>}</For>
              </dt>
              <dd>{does}</dd>
            </div>
          )}
        </For>
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}
