import { readFileSync } from 'node:fs'

type LockedPackage = {
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * Binaries for platforms other than the one CI runs on, which the registry that wrote the lockfile did not hold. Nothing
 * here installs them; npm fills in their integrity where they are installed.
 */
const FOREIGN_BINARIES: Readonly<Record<string, string>> = {
  '@biomejs/cli-':
    'android-arm64 android-x64 darwin-arm64 darwin-x64 linux-arm64-musl linux-x64-musl win32-arm64 win32-x64',
  '@chdb/lib-': 'darwin-arm64 darwin-x64 linux-arm64-gnu',
  '@foundry-rs/anvil-': 'darwin-amd64 darwin-arm64 linux-arm64 win32-amd64',
  '@msgpackr-extract/msgpackr-extract-': 'darwin-arm64 darwin-x64 linux-arm linux-arm64 win32-x64',
  '@oxc-parser/binding-':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-arm64-musl linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu linux-x64-musl openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@rolldown/binding-':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-ppc64-gnu linux-s390x-gnu openharmony-arm64 wasm32-wasi win32-arm64-msvc win32-x64-msvc',
  '@rollup/rollup-':
    'android-arm-eabi android-arm64 android-x64 darwin-arm64 darwin-x64 freebsd-arm64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-arm64-musl linux-loong64-gnu linux-loong64-musl linux-ppc64-gnu linux-ppc64-musl linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu linux-x64-musl openbsd-x64 openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-gnu win32-x64-msvc',
  '@triton-one/yellowstone-grpc-napi-': 'darwin-arm64 darwin-x64',
  'litesvm-': 'darwin-arm64 darwin-x64 linux-arm64-gnu linux-arm64-musl linux-x64-musl',
}

const exceptions = new Set(
  Object.entries(FOREIGN_BINARIES).flatMap(([name, platforms]) =>
    platforms.split(' ').map((platform) => `${name}${platform}`),
  ),
)

/** What is wrong with a lockfile: a package that is not pinned by its contents, or that names a host to fetch it from. */
export function checkLockfile(text: string): string[] {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(text)
  const known = new Set<string>()
  const faults = Object.entries(packages).flatMap(([path, locked]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const isOurs = !path.includes('node_modules/') || locked.link === true
    const found: string[] = []
    // `npm install` leaves out what the registry does not hold, and `npm ci` then refuses the whole lockfile.
    for (const optional of Object.keys(locked.optionalDependencies ?? {}))
      if (!isLocked(packages, path, optional)) found.push(`${path}: ${optional} is missing`)
    if (locked.resolved !== undefined && locked.link !== true) found.push(`${path}: names a host in resolved`)
    if (isOurs) return found
    if (locked.integrity !== undefined) return found
    known.add(name)
    return exceptions.has(name) ? found : [...found, `${path}: has no integrity`]
  })
  const unused = [...exceptions].filter((name) => !known.has(name))
  return [...faults, ...unused.map((name) => `${name}: is an exception without need`)]
}

/** A package may use one of its own, of a package around it, or of the top. */
function isLocked(packages: Record<string, LockedPackage>, path: string, name: string): boolean {
  const above = (at: string): string => at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))
  for (let at = path; at !== ''; at = above(at)) if (`${at}/node_modules/${name}` in packages) return true
  return `node_modules/${name}` in packages
}

if (import.meta.main) {
  const faults = checkLockfile(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
  for (const fault of faults) console.error(`package-lock.json: ${fault}`)
  console.log(faults.length === 0 ? 'lockfile: ok' : `lockfile: ${faults.length} faults`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
