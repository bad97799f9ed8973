import { decodeFault } from '../domain/chain-fault.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { chainOfStored } from '../domain/generation.ts'
import {
  encodeQuarantine,
  LOGS,
  type MessagePlace,
  type QuarantineEntry,
  quarantineName,
} from '../domain/quarantine.ts'
import { ArgumentError, suggestion } from '../lib/arguments.ts'
import { connectLogs, type Logs } from '../log/connect.ts'
import { decodeChangeSet } from '../wire/change-codec.ts'
import { commonOfCommand, configOf, note, requireChain, runCommand, TEXT } from './command.ts'

const USAGE = `usage: chaintape quarantine <command> [--config FILE]

  list                                                            lists the messages that are skipped
  add --chain CHAIN --log LOG --sequence N --reason TEXT          skips a message that no role can process
  remove --chain CHAIN --log LOG --sequence N                     withdraws an entry that no role has used yet

LOG is blocks, changes or changes2. /readyz of the stopped role shows log and sequence: see docs/operations.md.
`

const COMMANDS: readonly string[] = ['list', 'add', 'remove']

/** `chaintape quarantine ...`: returns the exit code. */
export async function runQuarantine(args: readonly string[]): Promise<number> {
  const options = { chain: TEXT, log: TEXT, sequence: TEXT, reason: TEXT }
  return runCommand({ name: 'quarantine', usage: USAGE, options }, args, async ({ values, positionals }) => {
    const [name = '', unexpected] = positionals
    if (unexpected !== undefined) throw new ArgumentError(`unexpected argument '${unexpected}'`)
    if (!COMMANDS.includes(name)) {
      throw new ArgumentError(`unknown command '${name}'${suggestion(name, COMMANDS)}`)
    }
    const place = name === 'list' ? undefined : placeOf(values)
    const reason = values.reason
    if (name === 'add' && reason === undefined) throw new ArgumentError('add needs --reason TEXT')
    const config = configOf(values)
    if (place !== undefined) requireChain(config, place.chain)
    const common = commonOfCommand()
    const logs = await connectLogs(config.nats, common)
    try {
      if (place === undefined) await list(logs)
      else if (name === 'add') await add(logs, place, reason ?? '')
      else await remove(logs, place)
    } finally {
      await common.shutdown.finish()
      await logs.close()
    }
    return 0
  })
}

type PlaceOptions = { readonly chain?: string; readonly log?: string; readonly sequence?: string }

function placeOf({ chain, log, sequence }: PlaceOptions): MessagePlace {
  if (chain === undefined || log === undefined || sequence === undefined) {
    throw new ArgumentError('missing options: --chain CHAIN --log LOG --sequence N')
  }
  const known = LOGS.find((each) => each.toLowerCase() === log)
  if (known === undefined) throw new ArgumentError('--log must be blocks, changes or changes2')
  if (!/^[1-9]\d{0,14}$/.test(sequence)) throw new ArgumentError('--sequence must be a positive number')
  return { chain, log: known, sequence: Number(sequence) }
}

async function list(logs: Logs): Promise<void> {
  for (const { chain, log, sequence, at, reason } of (await logs.quarantine()).entries) {
    process.stdout.write(`${chain} ${log} ${sequence} ${new Date(at).toISOString()} ${reason}\n`)
  }
}

/** Accepts only a message at which a role has stopped, so that all roles skip the same one. */
async function add(logs: Logs, place: MessagePlace, reason: string): Promise<void> {
  const faults = await (await logs.openLatest('FAULTS')).read('>')
  const isReported = faults.some(({ name, body }) => {
    // A generation that is not served is reported under a name of its own.
    if (chainOfStored(name.split('.')[0] ?? '') !== place.chain) return false
    const message = decodeFault(body)?.message
    return message?.log === place.log && message.sequence === place.sequence
  })
  if (!isReported) {
    throw new ChaintapeError(
      'not_quarantined',
      `no running role is stopped at ${textOf(place)}; /readyz shows the message to quarantine`,
    )
  }
  const { epoch } = await logs.open(place.log, place.chain)
  const entry: QuarantineEntry = { ...place, epoch, reason, at: Date.now() }
  await (await logs.openLatest('QUARANTINE')).put(quarantineName(place), encodeQuarantine(entry))
  note(`${textOf(place)} is quarantined; the roles stopped at it resume now`)
}

/** A skipped block affects everything published since, so without the entry a replay would differ. */
async function remove(logs: Logs, place: MessagePlace): Promise<void> {
  const { entries } = await logs.quarantine()
  const name = quarantineName(place)
  if (!entries.some((entry) => quarantineName(entry) === name)) {
    throw new ChaintapeError('not_quarantined', `${textOf(place)} is not quarantined`)
  }
  if (place.log === 'BLOCKS') {
    const { serving, building } = (await logs.generations()).of(place.chain)
    for (const generation of building === undefined ? [serving] : [serving, building]) {
      const last = await (await logs.openChanges(place.chain, generation)).lastMessage()
      if (last === undefined || decodeChangeSet(last.body).seq < place.sequence) continue
      throw new ChaintapeError(
        'not_quarantined',
        `${textOf(place)} was already skipped, and CHANGES was published without it; the entry must stay`,
      )
    }
  }
  await (await logs.openLatest('QUARANTINE')).put(name, new Uint8Array())
  note(`${textOf(place)} is no longer quarantined`)
}

function textOf({ chain, log, sequence }: MessagePlace): string {
  return `${log} message ${sequence} of ${chain}`
}
