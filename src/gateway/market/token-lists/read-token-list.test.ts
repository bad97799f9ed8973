import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { parseTokenList } from './parse-token-list.ts'
import { readTokenList } from './read-token-list.ts'

type ChainFile = {
  readonly family: 'evm' | 'solana'
  readonly chain_id?: number
  readonly quote_assets: readonly { readonly address: string; readonly kind: string }[]
}
const SOLANA_LIST_ID = 101
const shippedChains = ['arbitrum', 'base', 'bsc', 'eth', 'optimism', 'polygon', 'solana'].map((chain) => {
  const file = new URL(`../../../../config/chains/${chain}.yaml`, import.meta.url)
  const {
    family,
    chain_id: chainId = SOLANA_LIST_ID,
    quote_assets: assets,
  } = parse(readFileSync(file, 'utf8')) as ChainFile
  return { chain, family, chainId, assets }
})

const folder = mkdtempSync(join(tmpdir(), 'token-list-'))
let ca = ''
let server: Server
let url = ''
/** Paths that were asked for. */
const asked: string[] = []

before(async () => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, ...subject, '-days', '2', '-keyout', key, '-out', cert],
    {
      stdio: 'ignore',
    },
  )
  ca = readFileSync(cert, 'utf8')
  server = createServer({ key: readFileSync(key), cert: ca }, (request, response) => {
    asked.push(request.url ?? '')
    switch (request.url) {
      case '/list':
        return void response.end('{"tokens":[]}')
      case '/moved':
        return void response.writeHead(302, { location: `${url}/elsewhere` }).end()
      case '/endless':
        return void setInterval(() => response.write('x'.repeat(10_000)), 1).unref()
      case '/silent':
        return
      default:
        return void response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://localhost:${(server.address() as AddressInfo).port}`
})

after(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

const { signal } = new AbortController()
const unreadable = (message: RegExp) => ({ code: 'token_list_unreadable', message })

test('a file', async () => {
  const file = join(folder, 'list.json')
  writeFileSync(file, '{"tokens":["\u20ac"]}')
  assert.equal(await readTokenList(file, { signal }), '{"tokens":["\u20ac"]}')
  await assert.rejects(readTokenList(file, { signal, maxBytes: 10 }), unreadable(/exceeds 10 bytes/))
  await assert.rejects(readTokenList(join(folder, 'none'), { signal }), unreadable(/ENOENT/))
  await assert.rejects(readTokenList(folder, { signal }), unreadable(/EISDIR/))
})

test('the shipped list, whose entries are all of shipped chains', async () => {
  const text = await readTokenList('default', { signal })
  const listings = parseTokenList(text, shippedChains)
  const parsed = [...listings.values()].reduce((sum, ofChain) => sum + ofChain.size, 0)
  assert.equal(parsed, (JSON.parse(text) as { tokens: unknown[] }).tokens.length)
  for (const [chain, ofChain] of listings) {
    assert.ok(ofChain.size >= 6, `${chain} has ${ofChain.size}`)
    for (const [address, { logoUrl, isAudited }] of ofChain) {
      assert.match(logoUrl ?? '', /^https:.*\/[0-9a-f]{40}\/blockchains\/.*\.png$/, address)
      assert.equal(isAudited, false, 'we vouch for no audit')
    }
  }
})

test('the shipped list has a logo for every stablecoin and native coin of the shipped chains', async () => {
  const listings = parseTokenList(await readTokenList('default', { signal }), shippedChains)
  for (const { chain, assets } of shippedChains)
    for (const { address, kind } of assets)
      if (kind !== 'major') assert.ok(listings.get(chain)?.get(address)?.logoUrl, `${chain} ${address}`)
})

test('an https address', async () => {
  assert.equal(await readTokenList(`${url}/list`, { signal, ca }), '{"tokens":[]}')
  await assert.rejects(readTokenList(`${url}/none`, { signal, ca }), unreadable(/404/))
})

test('redirects are not followed', async () => {
  await assert.rejects(readTokenList(`${url}/moved`, { signal, ca }), unreadable(/302/))
  assert.equal(asked.includes('/elsewhere'), false)
})

test('nor fill our memory, nor keep us waiting', async () => {
  const limits = { signal, ca, maxBytes: 100_000, timeoutMs: 300 }
  const patient = { ...limits, timeoutMs: 60_000 }
  await assert.rejects(readTokenList(`${url}/endless`, patient), unreadable(/exceeds 100000 bytes/))
  await assert.rejects(readTokenList(`${url}/silent`, limits), unreadable(/abort/i))
})

test('a server without a valid certificate is not read', async () => {
  const before = asked.length
  await assert.rejects(readTokenList(`${url}/list`, { signal }), unreadable(/certificate/))
  assert.equal(asked.length, before)
})

test('http is no address: such a file does not exist', async () => {
  const plain = createPlainServer((request) => asked.push(`plain ${request.url}`))
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  const { port } = plain.address() as AddressInfo
  await assert.rejects(readTokenList(`http://127.0.0.1:${port}/list`, { signal }), unreadable(/ENOENT/))
  assert.equal(
    asked.some((path) => path.startsWith('plain')),
    false,
  )
  plain.close()
})
