import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { VERSION } from '../../src/lib/version.ts'
import { planAnvil } from '../../src/sandbox/servers/anvil.ts'
import { planClickhouse } from '../../src/sandbox/servers/clickhouse.ts'
import { findProgram } from '../../src/sandbox/servers/programs.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import {
  ADMIN_PORTS,
  ComposeProject,
  healthCommand,
  type ImageConfig,
  variablesOf,
} from './compose-project.ts'
import { CONTAINER_USER, type Container, Host } from './host.ts'
import { ImageStore, REPO, run, skipReason } from './tools.ts'

/** The image, built as the Dockerfile says, and every service of compose.yaml, run as the file says. */

const BASE_ID = 8453
const START_MS = 240_000
const TOOLS = ['keys', 'operator', 'backup']
/** No program of it is on this machine: docs/deploy.md says so. */
const NOT_RUN = ['grafana']

const folder = mkdtempSync(join(tmpdir(), 'chaintape-image-'))
let image: ImageConfig
let host: Host
let project: ComposeProject

after(async () => {
  await host?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const skip = skipReason() || (await (await ImageStore.open(join(folder, 'probe'))).refusal())

before(
  async () => {
    if (skip) return
    project = await ComposeProject.make(folder)
    const names = ['localhost', 'host.docker.internal', ...Object.keys(project.services)]
    host = await Host.start(folder, names.map((name) => `127.0.0.1 ${name}\n`).join(''))
    const store = await ImageStore.open(folder, (program, args) => host.run([program, ...args]))
    const mounted = await store.mount<ImageConfig>(await store.build(await store.makeBase()))
    image = mounted.config
    host.useImage(mounted.root)
  },
  { timeout: 900_000 },
)

const ownFolder = async (name: string): Promise<string> => {
  mkdirSync(join(folder, name))
  await run('chown', [`${CONTAINER_USER}:${CONTAINER_USER}`, join(folder, name)])
  return join(folder, name)
}

/** The image alone, as `docker run` has it. */
const alone = (...args: string[]): Container => ({
  args: [...image.Entrypoint, ...args],
  env: variablesOf(image),
  mounts: [],
  workDir: image.WorkingDir,
})

const healthOf = (name: string): Container => ({
  ...project.container(name, image),
  args: healthCommand(image.Healthcheck.Test),
})

describe('the image', { skip }, () => {
  test('runs every role as a user without rights, and holds nothing that only a build needs', async () => {
    assert.equal(image.User, `${CONTAINER_USER}:${CONTAINER_USER}`)
    assert.deepEqual([image.Entrypoint, image.Cmd], [['chaintape'], ['all']])
    assert.deepEqual(Object.keys(image.Volumes), ['/var/lib/chaintape'])
    assert.deepEqual(await host.runContainer(alone('--version')), {
      code: 0,
      stdout: `chaintape ${VERSION}\n`,
      stderr: '',
    })
    const own = host.ofImage('opt/chaintape')
    assert.ok(existsSync(join(own, 'config/chains/base.yaml')))
    assert.match(readFileSync(join(own, 'web/dist/index.html'), 'utf8'), /chaintape-key/)
    for (const left of [
      'src',
      'dev',
      'web/src',
      'node_modules/typescript',
      'node_modules/chdb',
      'node_modules/@types/ws',
    ])
      assert.ok(!existsSync(join(own, left)), left)
    const state = statSync(host.ofImage('var/lib/chaintape'))
    assert.deepEqual([state.uid, state.gid], [CONTAINER_USER, CONTAINER_USER])
  })

  test('names the file that is missing, and is not healthy without a role', async () => {
    const { code, stderr } = await host.runContainer(alone('writer'))
    assert.deepEqual(
      [code, /\/etc\/chaintape\/chaintape\.yaml: no such file/.test(stderr)],
      [2, true],
      stderr,
    )
    const health = { ...alone(), args: healthCommand(image.Healthcheck.Test) }
    assert.equal((await host.runContainer(health)).code, 1)
  })
})

describe('compose.yaml', { skip }, () => {
  test('starts servers that become healthy by its own checks', async () => {
    const folders = { data: join(folder, 'engines'), programs: join(folder, 'bin') }
    for (const made of Object.values(folders)) mkdirSync(made)
    // A machine may have Redis instead, with the same commands.
    for (const part of ['server', 'cli']) {
      const program = findProgram(`valkey-${part}`, `redis-${part}`)
      assert.ok(program !== undefined, `no redis-${part}: dev/setup installs it`)
      symlinkSync(program, join(folders.programs, `valkey-${part}`))
    }
    const PATH = `${folders.programs}${delimiter}${process.env['PATH']}`
    for (const name of ['nats', 'valkey', 'prometheus']) {
      const { entrypoint, command, environment = {} } = project.service(name)
      // The image of Prometheus names its program itself.
      const program = entrypoint ?? (name === 'prometheus' ? ['prometheus'] : [])
      const localized = [...program, ...(command ?? [])].map((part) => project.localized(name, part))
      const variables = Object.entries(environment).map(([key, value]) => [
        key,
        project.localized(name, value),
      ])
      host.start(name, localized, { PATH, ...Object.fromEntries(variables) })
    }
    const clickhouse = planClickhouse(folders.data, 8123)
    host.start('clickhouse', [clickhouse.command, ...clickhouse.args], { ...process.env, ...clickhouse.env })
    const anvil = planAnvil(folders.data, 8545, ['--chain-id', String(BASE_ID)])
    host.start('anvil', [anvil.command, ...anvil.args], process.env)
    const down = async (name: string): Promise<boolean> => {
      const { healthcheck, environment = {} } = project.service(name)
      return (await host.run(healthCommand(healthcheck?.test ?? []), { PATH, ...environment })).code !== 0
    }
    for (const name of ['nats', 'valkey', 'clickhouse', 'prometheus'])
      await waitFor(`${name} to be healthy`, async () => ((await down(name)) ? undefined : true), START_MS)
    assert.ok(await down('grafana'), 'a check of a service that does not run succeeds')

    const policy = await host.run(['valkey-cli', 'config', 'get', 'maxmemory-policy'], {
      ...{ PATH, ...project.service('valkey').environment },
    })
    assert.match(policy.stdout, /noeviction/)
    const monitor = await host.run(['wget', '-q', '-O', '-', 'http://nats:8222/jsz'])
    assert.equal(
      (JSON.parse(monitor.stdout) as { config: { sync_always: boolean } }).config.sync_always,
      true,
    )
  })

  test('init writes settings in a folder of the operator', async () => {
    const work = { source: await ownFolder('work'), target: '/work', isReadOnly: false }
    const args = ['init', '--chain', 'base', '--rpc', 'http://host.docker.internal:8545']
    const made = await host.runContainer({ ...alone(...args), mounts: [work], workDir: '/work' })
    assert.equal(made.code, 0, made.stderr)
  })

  test('starts roles that become ready and healthy, without rights and on a read-only root', async () => {
    const created = await host.runContainer(project.container('keys', image, ['create', '--name', 'me']))
    assert.equal(created.code, 0, created.stderr)
    for (const role of project.roles) host.startContainer(role, project.container(role, image))
    for (const role of project.roles) {
      await waitFor(
        `${role} to be ready`,
        async () => {
          assert.equal(host.process(role).exitCode, null, host.logTail(role))
          const url = `http://${role}:${ADMIN_PORTS[role]}/readyz`
          return (await host.run(['wget', '-q', '-O', '-', url])).code === 0 ? true : undefined
        },
        START_MS,
      )
      assert.equal((await host.runContainer(healthOf(role))).code, 0, role)
      const about = (file: string): string => readFileSync(`/proc/${host.process(role).pid}/${file}`, 'utf8')
      assert.match(about('status'), new RegExp(`^Uid:(\\s${CONTAINER_USER}){4}$`, 'm'))
      assert.match(about('status'), /^CapEff:\s0+$/m)
      assert.match(about('status'), /^NoNewPrivs:\s1$/m)
      assert.match(about('mountinfo'), /^\S+ \S+ \S+ \S+ \/ ro[ ,]/m)
    }
    const key = created.stdout.trim()
    const header = `--header=X-API-KEY: ${key}`
    const answer = await host.run(['wget', '-q', '-O', '-', header, 'http://gateway:8080/v2/chains'])
    assert.match(answer.stdout, /"base"/, answer.stderr)
  })

  test('has a Prometheus that reaches every role and knows the alerts', async () => {
    const ask = async <Data>(path: string): Promise<Data> => {
      const { stdout } = await host.run(['wget', '-q', '-O', '-', `http://prometheus:9090/api/v1/${path}`])
      return (JSON.parse(stdout) as { data: Data }).data
    }
    await waitFor('every role to be scraped', async () => {
      type Targets = { activeTargets: { health: string; labels: { role: string } }[] }
      const { activeTargets } = await ask<Targets>('targets')
      const up = activeTargets.filter(({ health }) => health === 'up').map(({ labels }) => labels.role)
      return up.length === project.roles.length ? true : undefined
    })
    const { groups } = await ask<{ groups: { rules: unknown[] }[] }>('rules?type=alert')
    const written = readFileSync(join(REPO, 'deploy/prometheus/alerts.yaml'), 'utf8').match(/- alert:/g)
    assert.equal(groups.flatMap(({ rules }) => rules).length, written?.length)
  })

  test('has tools with users of their own, which do what docs/deploy.md says', async () => {
    await ownFolder('backups')
    const page = readFileSync(join(REPO, 'docs/deploy.md'), 'utf8')
    const shown = [...page.matchAll(/docker compose run --rm (\S+) ([^`\n]+)/g)]
    for (const [command, name = '', args = ''] of shown) {
      const { code, stdout, stderr } = await host.runContainer(
        project.container(name, image, args.split(' ')),
      )
      assert.equal(code, 0, `${command}: ${stdout}${stderr}`)
    }
    assert.ok(existsSync(join(folder, 'backups/2026-11-17/manifest.json')))
    const used = new Set(shown.map(([, name]) => name))
    for (const tool of TOOLS) assert.ok(used.has(tool), tool)
    // Roles that start at once try to create streams of others, and wait for them (docs/decisions/0050).
    const violations = readFileSync(host.logFile('nats'), 'utf8').match(/^.*Violation.*$/gm) ?? []
    const isEarly = (line: string): boolean => line.includes('$JS.API.STREAM.CREATE.')
    assert.deepEqual(
      violations.filter((line) => !isEarly(line)),
      [],
    )
  })

  test('notices a role that hangs, and ends roles in order', async () => {
    host.process('writer').kill('SIGSTOP')
    assert.equal((await host.runContainer(healthOf('writer'))).code, 1)
    host.process('writer').kill('SIGCONT')
    for (const role of project.roles) {
      const code = await host.end(role, 'SIGTERM')
      assert.equal(code, 0, `${role}: ${host.logTail(role)}`)
    }
    const started = Object.keys(project.services).filter((name) => existsSync(host.logFile(name)))
    assert.deepEqual([...started, ...TOOLS, ...NOT_RUN].sort(), Object.keys(project.services).sort())
  })
})
