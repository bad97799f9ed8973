/** The envelope of every push, around a result that was encoded once for all its receivers. */
export function pushFrame(id: number, resultJson: string, sentTime: number): Buffer {
  return Buffer.from(`{"id":${id},"jsonrpc":"2.0","result":${resultJson},"sent_time":${sentTime}}`)
}
