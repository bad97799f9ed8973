/** A process that does not answer within this is taken for one that cannot. */
const ANSWER_MS = 2_000

/** Asked again once: the role may close an idle connection while the request is on its way. */
export async function askAdmin(port: unknown, path: string): Promise<Response> {
  const ask = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(ANSWER_MS) })
  return ask().catch(ask)
}
