/** What takes the headers of an answer: a reply of the framework, or a list of our own. */
export type AnswerHeaders = { header(name: string, value: string | number): unknown }

/** Name, value, name, value: as node's `writeHead` takes them. */
export class HeaderList implements AnswerHeaders {
  readonly list: string[] = []

  header(name: string, value: string | number): void {
    this.list.push(name, `${value}`)
  }
}
