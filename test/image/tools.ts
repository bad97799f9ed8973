import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The programs of `dev/setup --image`. */

export const REPO = resolve(fileURLToPath(new URL('../..', import.meta.url)))
const TOOLS = join(REPO, 'dev/.tools')
const RENDERERS = join(TOOLS, 'renderers/usr/bin')
const BASE_TAR = join(TOOLS, 'image-base.tar')

/** Why these tests cannot run here. On a machine that could run them, missing tools are a failure instead. */
export function skipReason(): string | false {
  const isDebian =
    existsSync('/etc/os-release') && /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'))
  if (!isDebian || process.getuid?.() !== 0) return notice('they need Debian and root')
  // The same as in dev/setup: what the tests do instead of a container engine.
  const probe = spawnSync('unshare', [
    '--net',
    '--mount',
    'sh',
    '-c',
    'mount --bind / / && exec chroot / true',
  ])
  if (probe.status !== 0) return notice(`this machine refuses namespaces, mounts or chroot: ${probe.stderr}`)
  if (!existsSync(BASE_TAR)) throw new Error('the image tools are missing; run dev/setup --image')
  return false
}

/** Printed besides, because a report shows reasons only to those who look for them. */
function notice(reason: string): string {
  console.log(`The image tests are skipped: ${reason.trim()}`)
  return reason.trim()
}

export type Ended = { readonly code: number | string; readonly stdout: string; readonly stderr: string }

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

export function run(command: string, args: readonly string[], env = process.env): Promise<Ended> {
  return new Promise((done) => {
    execFile(command, args, { cwd: REPO, env, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : (error.code ?? String(error.signal)), stdout, stderr }),
    )
  })
}

/** Only the variables of the file, so that none of the machine decides what is tested. */
export function compose(envFile: string, ...args: readonly string[]): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' }
  return run(join(RENDERERS, 'docker-compose'), ['--env-file', envFile, '--profile', 'tools', ...args], env)
}

export function kustomize(folder: string): Promise<Ended> {
  return run(join(RENDERERS, 'kustomize'), ['build', folder])
}

type Runner = (program: string, args: readonly string[]) => Promise<Ended>

/** A store of images in a folder of its own; chroot isolation needs neither a daemon nor a network. */
export class ImageStore {
  readonly #folder: string
  readonly #run: Runner
  readonly #driver: string

  private constructor(folder: string, runner: Runner, driver: string) {
    this.#folder = folder
    this.#run = runner
    this.#driver = driver
  }

  static async open(folder: string, runner: Runner = run): Promise<ImageStore> {
    const overlay = new ImageStore(folder, runner, 'overlay')
    // A file system may not allow overlays; then every layer is a copy of all files, which takes minutes on a slow disk.
    const isPossible = (await overlay.#buildah('info')).code === 0
    return isPossible ? overlay : new ImageStore(folder, runner, 'vfs')
  }

  #buildah(command: string, ...args: readonly string[]): Promise<Ended> {
    const [images, state] = [`images-${this.#driver}`, `run-${this.#driver}`].map((name) =>
      join(this.#folder, name),
    )
    const store = ['--root', `${images}`, '--runroot', `${state}`, '--storage-driver', this.#driver]
    return this.#run('buildah', [...store, command, ...args])
  }

  async buildah(command: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#buildah(command, ...args)
    if (code === 0) return stdout.trim()
    const isCold = `${stdout}${stderr}`.includes('ENOTCACHED')
    const hint = isCold ? "\nnpm's cache was emptied: remove node_modules and run dev/setup" : ''
    throw new Error(`buildah ${command}: ${stdout}${stderr}${hint}`)
  }

  /**
   * Why a command cannot run in a container here, if the kernel refuses what buildah needs for it. ldconfig is the one
   * program of every Debian that needs no library.
   */
  async refusal(): Promise<string | false> {
    const container = await this.buildah('from', 'scratch')
    try {
      await this.buildah('copy', container, '/sbin/ldconfig', '/ldconfig')
      await this.buildah('run', '--isolation', 'chroot', container, '--', '/ldconfig', '--version')
      return false
    } catch (error) {
      if (!(error instanceof Error && /not permitted|permission denied|not implemented/i.test(error.message)))
        throw error
      return notice(`buildah cannot run a command: ${error.message}`)
    } finally {
      await this.buildah('rm', container)
    }
  }

  /** A Debian with Node and npm, as the Dockerfile expects; its id. */
  async makeBase(): Promise<string> {
    const container = await this.buildah('from', 'scratch')
    const folders = (process.env['PATH'] ?? '').split(delimiter)
    const program = folders.map((folder) => join(folder, 'npm')).find((file) => existsSync(file)) ?? 'npm'
    // <npm>/bin/npm-cli.js
    const npm = dirname(dirname(realpathSync(program)))
    await this.buildah('add', container, BASE_TAR, '/')
    await this.buildah('copy', container, process.execPath, '/usr/local/bin/node')
    await this.buildah('copy', container, npm, '/usr/local/lib/node_modules/npm')
    await this.buildah('copy', container, join(REPO, 'test/image/npm.sh'), '/usr/local/bin/npm')
    return this.buildah('commit', '--quiet', '--rm', container)
  }

  /** The image of the Dockerfile, from npm's cache alone: `dev/setup` has filled it by the same lock file. Its id. */
  async build(base: string): Promise<string> {
    const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
    const [npmrc, idFile] = [join(this.#folder, 'npmrc'), join(this.#folder, 'image-id')]
    writeFileSync(npmrc, 'offline=true\n')
    await this.buildah(
      ...(['build', '--isolation', 'chroot', '--format', 'docker', '--pull-never'] as const),
      ...['--build-arg', `BASE=${base}`, '--iidfile', idFile],
      ...['--volume', `${cache}:/root/.npm`, '--volume', `${npmrc}:/root/.npmrc:ro`, REPO],
    )
    return readFileSync(idFile, 'utf8').trim().replace('sha256:', '')
  }

  /** What the image says about itself, and the folder with its files. */
  async mount<Config>(image: string): Promise<{ config: Config; root: string }> {
    const inspected = await this.buildah('inspect', '--type', 'image', image)
    const { Docker } = JSON.parse(inspected) as { Docker: { config: Config } }
    const container = await this.buildah('from', '--pull-never', image)
    return { config: Docker.config, root: await this.buildah('mount', container) }
  }
}
