/** Binary records in a file: the length of each in four bytes, then its bytes. */
export function encodeRecord(bytes: Uint8Array): Uint8Array {
  const record = Buffer.allocUnsafe(4 + bytes.length)
  record.writeUInt32LE(bytes.length)
  record.set(bytes, 4)
  return record
}

/** Holds one record at a time. */
export async function* decodeRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk])
    for (let end = endOfRecord(bytes); end <= bytes.length; end = endOfRecord(bytes)) {
      yield bytes.subarray(4, end)
      bytes = bytes.subarray(end)
    }
  }
  if (bytes.length > 0) throw new Error('the file ends within a record')
}

function endOfRecord(bytes: Buffer): number {
  return bytes.length < 4 ? Number.POSITIVE_INFINITY : 4 + bytes.readUInt32LE()
}
