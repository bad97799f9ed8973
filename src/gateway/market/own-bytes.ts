/** Copies a message that is a view of a larger buffer, such as a small one among others that NATS received at once. */
export function ownBytes(message: Uint8Array): Uint8Array {
  // Retained as a view, it would retain all of that buffer.
  return message.byteLength === message.buffer.byteLength ? message : new Uint8Array(message)
}
