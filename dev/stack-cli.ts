/** Behind `dev/stack`: a supervisor process for each named stack owns its services and ends with them. */
import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { logTail, PortTakenError } from '../src/sandbox/servers/process.ts'
import { identityOf, isRunning, type ProcessIdentity } from '../src/sandbox/servers/process-identity.ts'
import { type Stack, type StackOptions, startStack } from '../src/sandbox/servers/stack.ts'

type State = {
  readonly supervisor: ProcessIdentity
  readonly services: Readonly<Record<string, ProcessIdentity>>
  readonly environment: Readonly<Record<string, string>>
  readonly ports: Stack['ports']
}

type Folder = { readonly name: string; readonly root: string; readonly data: string; readonly log: string }

const usage = `usage: dev/stack start [name] [--nats-cluster]   print its addresses, once it is running
       dev/stack status [name]
       dev/stack stop [name]                     its data stays
       dev/stack reset [name]                    stop it and delete its data`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'nats-cluster': { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
})
const [command, name = 'default', ...rest] = positionals
if (command === undefined || values.help || rest.length > 0) fail(usage)
if (!/^[A-Za-z0-9][\w-]*$/.test(name)) fail(`'${name}' is not a name for a stack`)
const root = fileURLToPath(new URL(`./.stacks/${name}`, import.meta.url))
const folder: Folder = { name, root, data: join(root, 'data'), log: join(root, 'supervisor.log') }

switch (command) {
  case 'start':
    await start(folder, values['nats-cluster'])
    break
  case 'stop':
    await stop(folder)
    break
  case 'status':
    status(folder)
    break
  case 'reset':
    await stop(folder)
    rmSync(folder.root, { recursive: true, force: true, maxRetries: 3 })
    note(`${name}: data deleted`)
    break
  case 'supervise':
    await supervise(folder, values['nats-cluster'])
    break
  default:
    fail(usage)
}

async function start(folder: Folder, isCluster: boolean): Promise<void> {
  const running = runningState(folder)
  if (running !== undefined) return printEnvironment(running)
  mkdirSync(folder.data, { recursive: true })
  const log = openSync(folder.log, 'w')
  const args = [
    fileURLToPath(import.meta.url),
    'supervise',
    folder.name,
    ...(isCluster ? ['--nats-cluster'] : []),
  ]
  const supervisor = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  let hasEnded = false
  supervisor.once('exit', () => {
    hasEnded = true
  })
  for (;;) {
    const state = runningState(folder)
    if (state !== undefined) {
      supervisor.unref()
      return printEnvironment(state)
    }
    if (hasEnded) fail(`${folder.name} did not start:\n${logTail(folder.log)}`)
    await sleep(50)
  }
}

async function stop(folder: Folder): Promise<void> {
  const state = readState(folder)
  if (state === undefined) return note(`${folder.name}: not running`)
  const all = [state.supervisor, ...Object.values(state.services)]
  if (isRunning(state.supervisor)) process.kill(state.supervisor.pid, 'SIGTERM')
  const deadline = Date.now() + 20_000
  while (all.some(isRunning) && Date.now() < deadline) await sleep(50)
  // Left over only if the supervisor was killed or hangs.
  for (const one of all) if (isRunning(one)) process.kill(one.pid, 'SIGKILL')
  while (all.some(isRunning)) await sleep(50)
  rmSync(stateFile(folder), { force: true })
  note(`${folder.name}: stopped`)
}

function status(folder: Folder): void {
  const state = readState(folder)
  if (state === undefined || !isRunning(state.supervisor)) {
    note(`${folder.name}: not running`)
    process.exitCode = 1
    return
  }
  for (const [service, identity] of Object.entries(state.services)) {
    const isUp = isRunning(identity)
    if (!isUp) process.exitCode = 1
    console.log(`# ${service}: ${isUp ? `running, pid ${identity.pid}` : 'ENDED'}`)
  }
  console.log(`# data: ${folder.data}`)
  printEnvironment(state)
}

async function supervise(folder: Folder, isCluster: boolean): Promise<void> {
  const stack = await startWithFormerPorts(folder, { dataDir: folder.data, natsNodes: isCluster ? 3 : 1 })
  process.on('SIGTERM', () => {
    stack
      .stop()
      .catch(console.error)
      .finally(() => process.exit(0))
  })
  const supervisor = identityOf(process.pid)
  if (supervisor === undefined) throw new Error('this process cannot see itself')
  const services = Object.entries(stack.pids).flatMap(([service, pid]) => {
    const identity = identityOf(pid)
    return identity === undefined ? [] : [[service, identity] as const]
  })
  const state: State = {
    supervisor,
    services: Object.fromEntries(services),
    environment: {
      CHAINTAPE_NATS_URLS: stack.natsUrls.join(','),
      CHAINTAPE_CLICKHOUSE_URL: stack.clickhouseUrl,
      CHAINTAPE_REDIS_URL: stack.redisUrl,
      CHAINTAPE_RPC_URL: stack.rpcUrl,
    },
    ports: stack.ports,
  }
  writeFileSync(portsFile(folder), JSON.stringify(stack.ports))
  writeFileSync(`${stateFile(folder)}.new`, JSON.stringify(state, null, 2))
  renameSync(`${stateFile(folder)}.new`, stateFile(folder))
  // The services do not keep this process alive by themselves.
  setInterval(() => {}, 2 ** 30)
}

/** A stack keeps its addresses over a restart, unless another program took one of its ports meanwhile. */
async function startWithFormerPorts(folder: Folder, options: StackOptions): Promise<Stack> {
  if (!existsSync(portsFile(folder))) return await startStack(options)
  const ports = JSON.parse(readFileSync(portsFile(folder), 'utf8')) as NonNullable<StackOptions['ports']>
  const { nats, ...others } = ports
  const isSameSize = nats !== undefined && nats.length === 3 * (options.natsNodes ?? 1)
  try {
    return await startStack({ ...options, ports: isSameSize ? ports : others })
  } catch (error) {
    if (!(error instanceof PortTakenError)) throw error
    return await startStack(options)
  }
}

function stateFile(folder: Folder): string {
  return join(folder.root, 'state.json')
}

function portsFile(folder: Folder): string {
  return join(folder.root, 'ports.json')
}

function readState(folder: Folder): State | undefined {
  if (!existsSync(stateFile(folder))) return undefined
  return JSON.parse(readFileSync(stateFile(folder), 'utf8')) as State
}

function runningState(folder: Folder): State | undefined {
  const state = readState(folder)
  return state !== undefined && isRunning(state.supervisor) ? state : undefined
}

function printEnvironment(state: State): void {
  for (const [variable, value] of Object.entries(state.environment))
    console.log(`export ${variable}=${value}`)
}

// Standard output is for `eval "$(dev/stack start)"`.
function note(message: string): void {
  console.error(`stack: ${message}`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
