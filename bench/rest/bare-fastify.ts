import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'

/** The framework alone, answering any token with the bytes of a file. */
const body = readFileSync(process.argv[2] ?? '')
const app = fastify()
app.get('/v2/tokens/:tokenId', (_request, reply) => {
  reply.type('application/json; charset=utf-8').send(body)
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.((app.server.address() as AddressInfo).port)
