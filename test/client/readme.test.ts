import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type Block, blocksOf, repo } from '../docs/blocks.ts'
import { MEME, MEME_WETH, sampleCandle, sampleTrade } from '../support/builders/market-samples.ts'
import { EXAMPLE_MARKET } from '../support/rigs/example-requests.ts'
import { API_KEY, type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'

/** Every program of the client's README prints what the page shows below it. */

const execute = promisify(execFile)
const PAGE = 'clients/typescript/README.md'
const blocks = blocksOf(PAGE)
const programs = blocks.filter(({ language }) => language === 'ts')
/** The first block opens the client that the others use. */
const [setup = assert.fail('no program')] = programs

let world: GatewayWorld
let gateway: Gateway
let folder: string

before(async () => {
  // Inside the repository, where Node finds its packages.
  folder = mkdtempSync(join(repo, 'clients/typescript/.readme-'))
  world = await GatewayWorld.start({ withHistory: true })
  await world.publish(EXAMPLE_MARKET)
  await world.storeAll()
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function outputOf(block: Block): string | undefined {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.language === 'text' ? next.text : undefined
}

test('every program has its output, and there is no other kind of block', () => {
  for (const block of programs.slice(1)) assert.ok(outputOf(block) !== undefined, `${PAGE}:${block.line}`)
  assert.equal(blocks.length, 2 * programs.length - 1)
})

test('programs print what the page shows', async () => {
  const source = (name: string): string => JSON.stringify(join(repo, 'clients/typescript/src', name))
  for (const block of programs.slice(1)) {
    const isLive = /102-1|1_700_000_160/.test(block.text)
    const file = join(folder, `line-${block.line}.ts`)
    const text = `${setup.text}\n${block.text}\nclient.closeStreams()\n`
      .replaceAll("'@chaintape/client'", source('index.ts'))
      .replaceAll("'@chaintape/client/node'", source('node.ts'))
    writeFileSync(file, text)
    const environment = { URL: gateway.url, KEY: API_KEY, PAIR: `${MEME_WETH}-eth`, TOKEN: `${MEME}-eth` }
    const running = execute(process.execPath, [file], {
      cwd: folder,
      env: { ...process.env, ...environment },
    })
    if (isLive && !isPublished) await publishLive()
    const { stdout, stderr } = await running
    assert.equal(stdout, outputOf(block), `${PAGE}:${block.line}: ${stderr}`)
  }
})

let isPublished = false

/** The swap and the candle that the live programs wait for. */
async function publishLive(): Promise<void> {
  isPublished = true
  await world.publish([
    { type: 'trade', trade: sampleTrade({ key: { block: 102, tx: 0, log: 1 }, time: 1_700_000_170 }) },
    { type: 'candle', candle: sampleCandle({ start: 1_700_000_160 }) },
  ])
}
