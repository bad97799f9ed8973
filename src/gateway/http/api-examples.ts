import { readFileSync } from 'node:fs'

/** Requests and the responses of a real gateway; `npm run api:examples` writes the file, a test compares it. */
export type ApiExamples = {
  readonly operations: Readonly<Record<string, ApiExample>>
  /** By status. */
  readonly problems: Readonly<Record<string, unknown>>
}

export type ApiExample = {
  /** By the name of the interface. */
  readonly parameters?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  readonly response: unknown
}

export const API_EXAMPLES_FILE = new URL('api-examples.json', import.meta.url)

export function readApiExamples(): ApiExamples {
  return JSON.parse(readFileSync(API_EXAMPLES_FILE, 'utf8')) as ApiExamples
}
