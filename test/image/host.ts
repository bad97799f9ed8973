import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Ended, run } from './tools.ts'

export type Mount = { readonly source: string; readonly target: string; readonly isReadOnly: boolean }

export type Container = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly mounts: readonly Mount[]
  readonly workDir: string
}

/**
 * Runs what Docker would, by the kernel's own means: as a user without rights, on the image's files mounted read-only, with
 * only the given variables. Its arguments: root, work folder, user, variables before `--`, then the command.
 */
const CONTAINER = `
set -e
root="$1" folder="$2" user="$3"; shift 3
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind /etc/hosts "$root/etc/hosts"
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
mount -o remount,bind,ro "$root"
shift
exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" /usr/bin/env -i -C "$folder" "$@"
`

export const CONTAINER_USER = 65_532

/**
 * A network of its own, in which every name of a service is 127.0.0.1: so commands, ports and addresses are exactly those of
 * the files, whatever else runs on this machine. Mounts are its own too, and end with it.
 */
export class Host {
  readonly #folder: string
  readonly #namespace: ChildProcess
  readonly #running = new Map<string, ChildProcess>()
  /** The files of the image, as seen inside. */
  #root = ''

  private constructor(folder: string, namespace: ChildProcess) {
    this.#folder = folder
    this.#namespace = namespace
  }

  static async start(folder: string, hosts: string): Promise<Host> {
    const file = join(folder, 'hosts')
    writeFileSync(file, hosts)
    const script = `ip link set lo up && mount --bind '${file}' /etc/hosts && echo up && exec sleep infinity`
    const namespace = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', 'unshare', '--net', '--mount', 'sh', '-c', script],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const host = new Host(folder, namespace)
    const isUp = await Promise.race([
      once(namespace.stdout as NodeJS.ReadableStream, 'data'),
      once(namespace, 'exit').then(() => undefined),
    ])
    if (isUp === undefined) throw new Error('no network of its own can be made here')
    return host
  }

  /** Takes containers from here on from an image that was mounted inside. */
  useImage(root: string): void {
    this.#root = root
    writeFileSync(this.ofImage('etc/hosts'), '')
  }

  /** A file of the image, as seen from outside. */
  ofImage(path: string): string {
    return join(`/proc/${this.#namespace.pid}/root`, this.#root, path)
  }

  /** Starts a program of this machine, inside. */
  start(name: string, command: readonly string[], env: NodeJS.ProcessEnv): void {
    const log = openSync(this.logFile(name), 'a')
    const [program = '', ...args] = this.#inside(['setpriv', '--pdeathsig', 'KILL', ...command])
    this.#running.set(name, spawn(program, args, { env, stdio: ['ignore', log, log] }))
    closeSync(log)
  }

  startContainer(name: string, container: Container): void {
    this.start(name, this.#contained(container), { PATH: process.env['PATH'] })
  }

  /** Runs a program of this machine, inside, to its end. */
  run(command: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> {
    const [program = '', ...args] = this.#inside(command)
    return run(program, args, env)
  }

  runContainer(container: Container): Promise<Ended> {
    return this.run(this.#contained(container))
  }

  /** All programs replace each other, so this is the id of the last one. */
  process(name: string): ChildProcess {
    const child = this.#running.get(name)
    if (child === undefined) throw new Error(`${name} was not started`)
    return child
  }

  logFile(name: string): string {
    return join(this.#folder, `${name}.log`)
  }

  logTail(name: string): string {
    return readFileSync(this.logFile(name), 'utf8').split('\n').slice(-20).join('\n')
  }

  async end(name: string, signal: NodeJS.Signals): Promise<number | null> {
    const child = this.process(name)
    this.#running.delete(name)
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
    return child.exitCode
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.end(name, 'SIGKILL')))
    const ended = once(this.#namespace, 'exit')
    if (this.#namespace.kill('SIGKILL')) await ended
  }

  #inside(command: readonly string[]): string[] {
    return ['nsenter', '--target', `${this.#namespace.pid}`, '--net', '--mount', '--', ...command]
  }

  #contained({ args, env, mounts, workDir }: Container): string[] {
    // Docker makes what is mounted on.
    for (const { source, target } of mounts) {
      const place = this.ofImage(target)
      if (statSync(source).isDirectory()) mkdirSync(place, { recursive: true })
      else {
        mkdirSync(dirname(place), { recursive: true })
        writeFileSync(place, '', { flag: 'a' })
      }
    }
    return [
      ...['unshare', '--mount', 'sh', '-c', CONTAINER, 'container', this.#root, workDir],
      `${CONTAINER_USER}:${CONTAINER_USER}`,
      ...mounts.flatMap(({ source, target, isReadOnly }) => [source, target, isReadOnly ? 'ro' : 'rw']),
      ...['--', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...args],
    ]
  }
}
