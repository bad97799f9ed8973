/** V8 flags of the gateway role: garbage collection pauses add to every client's latency (docs/decisions/0034). */
export const GATEWAY_FLAGS: readonly string[] = [
  // Pretenuring would allocate lists of pushes in old space, where each one keeps its whole block alive until a major GC.
  '--no-allocation-site-pretenuring',
  // Concurrent marking threads take CPU time from the event loop. Incremental marking does the same work in steps of a
  // millisecond or two.
  '--no-concurrent-marking',
  // Otherwise no scavenge runs while marking does: under load, the pause at its end copies 40 MB and takes 50 to 100 ms.
  '--no-separate-gc-phases',
]

/** Replaces the program by itself with these flags, unless it has them. The process and its id stay the same. */
export function relaunchWith(flags: readonly string[]): void {
  const { execPath, execArgv, argv, env, platform } = process
  if (platform === 'win32' || flags.every((flag) => execArgv.includes(flag))) return
  // Flags of the operator come last, so that they win.
  process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], env)
}
