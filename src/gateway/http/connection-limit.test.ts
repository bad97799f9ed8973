import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectionLimit, connectionSource } from './connection-limit.ts'
import { createHttpServer } from './server.ts'

test('an IPv6 network counts as one, an IPv4 address as itself however it is written', () => {
  const sources = new Map([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff::9', '2001:db8:0:0::/64'],
    ['2001:0db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])
  for (const [address, source] of sources) assert.equal(connectionSource(address), source, address)
})

test('an address has its share and no more; others, and proxies, are not touched by it', async (t) => {
  let served = 0
  const server = createHttpServer((_request, response) => response.end(`served ${++served}`), {
    admit: connectionLimit({ perAddress: 2, proxies: ['127.0.0.9'] }),
    interceptors: [],
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const opened: Socket[] = []
  t.after(() => {
    for (const socket of opened) socket.destroy()
    server.close()
  })
  const ask = async (localAddress: string): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    opened.push(socket)
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString()
  }
  const askTimes = async (times: number, address: string): Promise<string[]> => {
    const answers: string[] = []
    for (let time = 0; time < times; time++) answers.push((await ask(address)).slice(9, 12))
    return answers
  }
  assert.deepEqual(await askTimes(4, '127.0.0.1'), ['200', '200', '400', '400'])
  assert.match(await ask('127.0.0.1'), /"code":"limit_exceeded"/)
  assert.deepEqual(await askTimes(2, '127.0.0.2'), ['200', '200'])
  assert.deepEqual(await askTimes(4, '127.0.0.9'), ['200', '200', '200', '200'])
  assert.equal(served, 8)
  opened[0]?.destroy()
  const deadline = Date.now() + 5_000
  while ((await askTimes(1, '127.0.0.1'))[0] !== '200') {
    assert.ok(Date.now() < deadline)
    await sleep(10)
  }
})
