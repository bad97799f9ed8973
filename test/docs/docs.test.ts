import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Compile } from 'typebox/schema'
import { stringify } from 'yaml'
import { parseConfig } from '../../src/config/load.ts'
import { readYamlText } from '../../src/config/read-yaml.ts'
import { inlined } from '../contract/openapi.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type Block, blocksOf, PAGES, shapeFaults } from './blocks.ts'
import { type Outcome, runPage } from './shell.ts'
import { type Program, runProgram, startProgram, typeFaults, writePrograms } from './typescript.ts'
import { startWorld, type World } from './world.ts'

/** Every block of the README and the guides does what the page says, against running roles. */

const blocks = PAGES.flatMap((page) => blocksOf(page))
const run = blocks.filter(({ notRun }) => notRun === undefined)
const LANGUAGES = new Set(['sh', 'ts', 'sql', 'yaml', 'json', ''])

let world: World
let programs: readonly Program[]

before(async () => {
  programs = writePrograms(run.filter(({ language }) => language === 'ts'))
  world = await startWorld()
})

after(() => world?.stop())

test('every block has a language that is checked, or a reason', () => {
  assert.deepEqual(
    run.filter(({ language }) => !LANGUAGES.has(language)).map(({ page, line }) => `${page}:${line}`),
    [],
  )
  const notRun = blocks.filter((block) => block.notRun !== undefined)
  for (const { page, line, notRun: reason } of notRun) console.log(`not run: ${page}:${line}: ${reason}`)
  const drawings = run.filter(({ language }) => language === '')
  const counts = [`${run.length - drawings.length} run or checked`, `drawings: ${drawings.length}`]
  console.log(`${blocks.length} blocks: ${[...counts, `not run: ${notRun.length}`].join(', ')}`)
})

test('programs are type-checked', async () => {
  assert.equal(await typeFaults(programs), '')
})

for (const page of PAGES) {
  const ofPage = run.filter((block) => block.page === page)
  if (ofPage.length === 0) continue
  describe(page, () => {
    let outcomes: ReadonlyMap<number, Outcome | undefined>
    const commands = ofPage.filter(({ language }) => language === 'sh')

    before(async () => {
      if (commands.length > 0) outcomes = await runPage(commands, world)
    })

    for (const block of ofPage) {
      if (block.language === '') continue
      test(`line ${block.line}: ${block.language}`, async () => {
        if (block.language === 'sh') await checkCommand(block, outcomes.get(block.line))
        else if (block.language === 'json') checkAnswer(block, outcomeAbove(block, outcomes))
        else if (block.language === 'sql') await checkQuery(block)
        else if (block.language === 'yaml') checkSettings(block)
        else await checkProgram(block)
      })
    }
  })
}

async function checkCommand({ text }: Block, outcome: Outcome | undefined): Promise<void> {
  assert.ok(outcome !== undefined, 'not reached, because a block before it failed')
  assert.equal(outcome.code, 0, `${outcome.stderr}\n${outcome.stdout}`)
  const path = /\$URL(\/[^"'\s?]*)/.exec(text)?.[1]
  if (path === undefined || !/^[[{]/.test(outcome.stdout)) return
  assert.deepEqual(await answerFaults(path, JSON.parse(outcome.stdout)), [])
}

/** Whether an answer is what /openapi.json says of its operation. */
async function answerFaults(path: string, answer: unknown): Promise<string[]> {
  const response = await fetch(`${world.url}/openapi.json`)
  const described = (await response.json()) as Described
  const isOf = (template: string): boolean =>
    new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path)
  // A path may also look like an id: /v2/tokens/price.
  const entries = Object.entries(described.paths)
  const found =
    entries.find(([template]) => template === path) ?? entries.find(([template]) => isOf(template))
  if (found === undefined) return [`${path} is not described`]
  const [operation] = Object.values(found[1])
  const schema = operation?.responses['200']?.content['application/json']?.schema
  if (schema === undefined) return [`${path} has no description of its answer`]
  const [isRight, errors] = Compile(inlined(schema, described) as object).Errors(answer)
  return isRight ? [] : errors.map(({ instancePath, message }) => `${path}: ${instancePath} ${message}`)
}

type Described = Record<string, unknown> & { readonly paths: Record<string, Record<string, Operation>> }
type Operation = {
  readonly responses: Record<string, { readonly content: Record<string, { readonly schema: unknown }> }>
}

/** What the command right above a block of JSON printed, if there is one. */
function outcomeAbove(
  block: Block,
  outcomes: ReadonlyMap<number, Outcome | undefined> | undefined,
): Outcome | undefined {
  const above = blocks.find(({ page, line, text }) => {
    const end = line + text.split('\n').length
    return page === block.page && end + 2 === block.line
  })
  return above?.language === 'sh' ? outcomes?.get(above.line) : undefined
}

function checkAnswer({ text }: Block, outcome: Outcome | undefined): void {
  if (outcome !== undefined) {
    assert.deepEqual(shapeFaults(JSON.parse(text), JSON.parse(outcome.stdout)), [])
    return
  }
  // Messages of a socket, one per line, or one document.
  const documents = text.startsWith('{"') ? text.trim().split('\n') : [text]
  for (const document of documents) JSON.parse(document)
}

async function checkQuery({ text }: Block): Promise<void> {
  const { clickhouseUrl } = world.stack
  const [pair, token] = [world.scenario.tokenPair, world.scenario.token]
  const parameters = { param_chain: 'local', param_pair: pair, param_token: token }
  const query = new URLSearchParams({ database: 'docs', default_format: 'JSONEachRow', ...parameters })
  const response = await fetch(`${clickhouseUrl}/?${query}`, { method: 'POST', body: text })
  const body = await response.text()
  assert.equal(response.status, 200, body)
  assert.ok(body.trim() !== '', 'the query returned no row')
}

/** A part of a file is completed by the smallest file that is valid. */
function checkSettings({ text, page, line }: Block): void {
  const settings = readYamlText(text) as { chains?: Record<string, object> }
  const chains = settings.chains ?? { base: {} }
  const complete = Object.entries(chains).map(([name, chain]) => [
    name,
    { rpc_urls: ['http://127.0.0.1:8545'], ...chain },
  ])
  parseConfig(stringify({ ...settings, chains: Object.fromEntries(complete) }), `${page}:${line}`)
}

async function checkProgram(block: Block): Promise<void> {
  const program = programs.find((each) => each.block === block)
  assert.ok(program !== undefined)
  if (program.isLive) return
  const { code, stdout, stderr } = await runProgram(program, world.variables)
  assert.equal(code, 0, stderr)
  assert.notEqual(stdout, '')
}

test('the client of the guide on resuming prints every swap once, although it and its gateway are killed', async () => {
  const program = programs.find(({ block }) => block.page === 'docs/guides/resume.md')
  assert.ok(program?.isLive)
  const { pipeline, scenario, variables } = world
  const lines: string[] = []
  const trade = async (): Promise<void> => {
    for (let block = 0; block < 3; block++) {
      await scenario.market.buyWithNative(scenario.token, 10n ** 15n)
      await scenario.market.sellForNative(scenario.token, 10n ** 9n)
      await scenario.market.mine()
    }
  }
  const history = async (): Promise<string[]> => {
    const { body } = await pipeline.get(`/v2/txs/${variables['PAIR']}?limit=100`)
    return (body as { txs: { id: string }[] }).txs.map(({ id }) => id).reverse()
  }
  /** Everything is printed; the oldest swaps were before the first page of the client. */
  const caughtUp = async (): Promise<void> => {
    const { number, time } = await scenario.market.head()
    await pipeline.reaches(`/v2/pairs/${variables['PAIR']}`, { number, time })
    await waitFor('the client to print every swap', async () => {
      const wanted = await history()
      return lines.at(-1) === wanted.at(-1) ? true : undefined
    })
  }

  let client = startProgram(program, variables, lines)
  try {
    await caughtUp()
    await trade()
    await caughtUp()
    await pipeline.role('gateway').kill('SIGKILL')
    await trade()
    await pipeline.start('gateway')
    await caughtUp()
    await client.kill()
    await trade()
    client = startProgram(program, variables, lines)
    await trade()
    await caughtUp()
  } finally {
    await client.kill()
  }
  const wanted = await history()
  assert.deepEqual(lines.slice(-wanted.length), wanted)
  assert.equal(new Set(lines).size, lines.length)
})
