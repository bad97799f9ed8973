import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ChaintapeError } from '../../domain/errors.ts'
import { TERMINAL_FOLDER } from '../../lib/terminal-folder.ts'

/** As the gateway sends it. */
export type TerminalFile = {
  readonly type: string
  readonly body: Buffer
  readonly gzipped: Buffer
  readonly etag: string
}

export type TerminalFiles = {
  readonly page: TerminalFile
  /** By name below `/assets/`, which contains a hash of the contents. */
  readonly assets: ReadonlyMap<string, TerminalFile>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const KEY_PLACEHOLDER = '<meta name="chaintape-key" content="">'

/**
 * Reads the built terminal into memory: no request reaches the file system. The page gets the public key, so that it can
 * ask for its first chart without another round trip.
 */
export function readTerminalFiles(apiKey: string, folder = TERMINAL_FOLDER): TerminalFiles {
  let page: string
  let names: string[]
  try {
    page = readFileSync(join(folder, 'index.html'), 'utf8')
    names = readdirSync(join(folder, 'assets'))
  } catch (error) {
    throw new ChaintapeError(
      'config_invalid',
      `gateway.terminal is set, but ${folder} has no terminal; run npm run build, or remove the setting`,
      { cause: error },
    )
  }
  if (!page.includes(KEY_PLACEHOLDER))
    throw new ChaintapeError('config_invalid', `${folder}index.html has no place for a key; build it again`)
  const withKey = page.replace(KEY_PLACEHOLDER, `<meta name="chaintape-key" content="${apiKey}">`)
  const known = names.filter((name) => TYPES[extname(name)] !== undefined)
  return {
    page: fileOf('text/html; charset=utf-8', Buffer.from(withKey)),
    assets: new Map(
      known.map((name) => [
        name,
        fileOf(TYPES[extname(name)] ?? '', readFileSync(join(folder, 'assets', name))),
      ]),
    ),
  }
}

function fileOf(type: string, body: Buffer): TerminalFile {
  return { type, body, gzipped: gzipSync(body, { level: 9 }), etag: `"${hash('sha256', body, 'base64url')}"` }
}
