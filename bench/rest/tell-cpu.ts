/** Imported by a process that is measured, before its own code: tells its CPU time, all threads, when it is asked. */
process.on('message', (message) => {
  if (message !== 'cpu') return
  const { user, system } = process.cpuUsage()
  process.send?.((user + system) / 1_000_000)
})
// Being asked is no reason to stay alive, and nobody being left to ask is one to end.
process.channel?.unref()
process.once('disconnect', () => process.exit())
