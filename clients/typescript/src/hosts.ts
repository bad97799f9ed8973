/** Equivalent gateways: one is used until it fails, then the next one. */
export class Hosts {
  readonly #urls: readonly string[]
  #at = 0

  constructor(urls: string | readonly string[]) {
    this.#urls = (typeof urls === 'string' ? [urls] : urls).map((url) => url.replace(/\/+$/, ''))
    if (this.#urls.length === 0) throw new TypeError('url is empty: name at least one gateway')
    for (const url of this.#urls)
      if (!/^https?:\/\//.test(url)) throw new TypeError(`not an http URL: ${url}`)
  }

  get current(): string {
    return this.#urls[this.#at] as string
  }

  /** Moves on from a gateway that failed, unless another request did so already. */
  leave(failed: string): void {
    if (failed === this.current) this.#at = (this.#at + 1) % this.#urls.length
  }
}

export function socketUrl(url: string): string {
  return `${url.replace(/^http/, 'ws')}/ws`
}
