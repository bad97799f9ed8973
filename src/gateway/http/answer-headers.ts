/** Receives the headers of a response: a Fastify reply, or our own list. */
export type AnswerHeaders = { header(name: string, value: string | number): unknown }

/** Name, value, name, value: as node's `writeHead` takes them. */
export class HeaderList implements AnswerHeaders {
  readonly list: string[] = []

  header(name: string, value: string | number): void {
    this.list.push(name, `${value}`)
  }
}
