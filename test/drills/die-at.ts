/**
 * Loaded into a command before it starts: kills it with the first line on stderr that matches DIE_AT. From outside a kill
 * may come too late, because a small restore takes milliseconds.
 */
const line = new RegExp(process.env['DIE_AT'] ?? '(?!)')
const write = process.stderr.write.bind(process.stderr) as (...args: unknown[]) => boolean

process.stderr.write = (...args: unknown[]): boolean => {
  const isWritten = write(...args)
  if (line.test(String(args[0]))) process.kill(process.pid, 'SIGKILL')
  return isWritten
}
