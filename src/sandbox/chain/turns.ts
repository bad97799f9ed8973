/** Work that must not overlap, in the order in which it was handed in. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    // A turn that fails is over, too; its caller has the error.
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
