import { Compile } from 'typebox/compile'

/** What the gateway says of its messages at /asyncapi.json; everything that it sends has to fit. */

export type ServerMessage = {
  readonly id?: number | null
  readonly method?: string
  readonly error?: { readonly code: number }
  readonly result?: string | { readonly topic?: string; readonly data?: unknown }
}

export type Rules = {
  /** What is wrong with it, if anything is. */
  readonly fault: (message: ServerMessage) => string | undefined
}

/** A key that a client sent has no place in any answer. */
const KEY = /ctk_[0-9A-Za-z]{8}/

export async function readRules(gatewayUrl: string): Promise<Rules> {
  const answer = await fetch(`${gatewayUrl}/asyncapi.json`)
  const { components } = (await answer.json()) as {
    components: { messages: Record<string, { payload: object }> }
  }
  const forms = new Map(
    Object.entries(components.messages).map(([name, { payload }]) => [name, Compile(payload)]),
  )
  return {
    fault: (message) => {
      const name = nameOf(message)
      return forms.get(name)?.Check(message) ? undefined : `does not fit the form of '${name}'`
    },
  }
}

/** The one form that it can have. */
function nameOf(message: ServerMessage): string {
  const { result } = message
  if (message.error !== undefined) return 'error'
  if (message.method !== undefined) return message.method
  if (typeof result === 'string') return 'pong'
  if (isPush(message)) return result?.topic ?? 'switchMainPair'
  return 'acknowledgement'
}

export function isPush({ result }: ServerMessage): boolean {
  return typeof result === 'object' && (result.topic !== undefined || result.data !== undefined)
}

export function containsKey(text: string): boolean {
  return KEY.test(text)
}
