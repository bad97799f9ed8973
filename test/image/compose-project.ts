import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CONTAINER_USER, type Container, type Mount } from './host.ts'
import { compose, run } from './tools.ts'

/** Where each role has its health and metrics. */
export const ADMIN_PORTS: Readonly<Record<string, number>> = {
  ...{ reader: 9101, engine: 9102, writer: 9103, gateway: 9104, reconciler: 9105 },
}

/** A service as docker-compose renders it, with the variables filled in. */
export type Service = {
  readonly image: string
  readonly command: readonly string[] | null
  readonly entrypoint: readonly string[] | null
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly {
    readonly type: 'bind' | 'volume' | 'tmpfs'
    readonly source: string
    readonly target: string
    readonly read_only?: boolean
  }[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly ports?: readonly { readonly host_ip?: string; readonly published: string }[]
  readonly profiles?: readonly string[]
  readonly networks: Readonly<Record<string, unknown>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly user?: string
}

/** What an image says about itself. */
export type ImageConfig = {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Volumes: Readonly<Record<string, unknown>>
  readonly Healthcheck: { readonly Test: readonly string[] }
}

/** compose.yaml as a person would use it, with named volumes as folders. */
export class ComposeProject {
  readonly services: Readonly<Record<string, Service>>
  readonly #folder: string

  private constructor(services: Readonly<Record<string, Service>>, folder: string) {
    this.services = services
    this.#folder = folder
  }

  /** With new passwords, and the operator's files in the folder. */
  static async make(folder: string): Promise<ComposeProject> {
    const passwords = await run('sh', ['deploy/compose/passwords'])
    const files = { CHAINTAPE_SETTINGS: 'work/chaintape.yaml', CHAINTAPE_BACKUPS: 'backups' }
    const lines = Object.entries(files).map(([name, file]) => `${name}=${join(folder, file)}\n`)
    writeFileSync(join(folder, '.env'), `${passwords.stdout}${lines.join('')}`)
    const { code, stdout, stderr } = await compose(join(folder, '.env'), 'config', '--format', 'json')
    assert.equal(code, 0, stderr)
    return new ComposeProject((JSON.parse(stdout) as { services: Record<string, Service> }).services, folder)
  }

  /** The variables that `docker compose` reads. */
  get env(): string {
    return readFileSync(join(this.#folder, '.env'), 'utf8')
  }

  service(name: string): Service {
    const service = this.services[name]
    assert.ok(service, `compose.yaml has no service ${name}`)
    return service
  }

  /** The services of our image that run until they are stopped. */
  get roles(): string[] {
    return Object.keys(this.services).filter((name) => {
      const { image, profiles = [] } = this.service(name)
      return image.startsWith('chaintape:') && profiles.length === 0
    })
  }

  mounts(name: string): Mount[] {
    const { volumes = [] } = this.service(name)
    return volumes
      .filter(({ type }) => type !== 'tmpfs')
      .map(({ type, source, target, read_only = false }) => {
        if (type === 'bind') return { source, target, isReadOnly: read_only }
        const folder = join(this.#folder, 'volumes', source)
        mkdirSync(folder, { recursive: true })
        // As Docker does with a new volume: it takes the owner from the image's folder.
        chownSync(folder, CONTAINER_USER, CONTAINER_USER)
        return { source: folder, target, isReadOnly: read_only }
      })
  }

  /** A service of our image; with `args`, as `docker compose run` has it. */
  container(name: string, image: ImageConfig, args?: readonly string[]): Container {
    const { entrypoint, command, environment = {} } = this.service(name)
    return {
      args: [...(entrypoint ?? image.Entrypoint), ...(args ?? command ?? image.Cmd)],
      env: { ...variablesOf(image), ...environment },
      mounts: this.mounts(name),
      workDir: image.WorkingDir,
    }
  }

  /** A command or variable of a service, for a program of this machine: what is mounted is in a folder like the root. */
  localized(name: string, text: string): string {
    const mounts = this.mounts(name).sort((one, other) => other.target.length - one.target.length)
    const targets = mounts.map(({ target }) => RegExp.escape(target)).join('|')
    if (targets === '') return text
    const root = join(this.#folder, 'roots', name)
    for (const { source, target } of mounts) {
      const place = join(root, target)
      mkdirSync(dirname(place), { recursive: true })
      if (!existsSync(place)) symlinkSync(source, place)
    }
    return text.replaceAll(new RegExp(targets, 'g'), (target) => join(root, target))
  }
}

/** With the path that Docker gives to images without one. */
export function variablesOf({ Env }: ImageConfig): Record<string, string> {
  const own = Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...Object.fromEntries(own) }
}

/** A health check as a command; `CMD-SHELL` has one line for the shell. */
export function healthCommand(test: readonly string[]): string[] {
  const [kind, ...rest] = test
  assert.ok(kind === 'CMD' || kind === 'CMD-SHELL', kind)
  return kind === 'CMD' ? rest : ['sh', '-c', ...rest]
}
