/** Imported by a measured process before its own code: reports its CPU time, all threads, on request. */
process.on('message', (message) => {
  if (message !== 'cpu') return
  const { user, system } = process.cpuUsage()
  process.send?.((user + system) / 1_000_000)
})
// Being asked is no reason to stay alive, and nobody being left to ask is one to end.
process.channel?.unref()
process.once('disconnect', () => process.exit())
