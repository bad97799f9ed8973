import { accessSync, constants } from 'node:fs'

type Tree = { readonly [key: string]: unknown }

/** Servers with certificates, and the scheme of a URL that uses them; NATS negotiates TLS by itself. */
const SERVERS: Readonly<Record<string, string | undefined>> = {
  nats: undefined,
  redis: 'rediss://',
  clickhouse: 'https://',
}
const FILES = ['ca_file', 'cert_file', 'key_file', 'creds_file']

/** Problems with certificates that a schema cannot express. Ignored certificates would mean an unencrypted connection. */
export function accessProblems(settings: Tree): string[] {
  return Object.entries(SERVERS).flatMap(([name, scheme]) => {
    const server = (settings[name] ?? {}) as Tree
    const files = FILES.filter((file) => typeof server[file] === 'string')
    const problems = files.flatMap((file) => unreadable(`${name}.${file}`, server[file] as string))
    if (files.includes('cert_file') !== files.includes('key_file'))
      problems.push(`${name}: set cert_file and key_file together`)
    if (scheme !== undefined && files.length > 0 && !String(server['url']).startsWith(scheme))
      problems.push(`${name}.${files[0]} needs a URL that starts with ${scheme}`)
    return problems
  })
}

function unreadable(setting: string, file: string): string[] {
  try {
    accessSync(file, constants.R_OK)
    return []
  } catch (error) {
    return [`${setting} cannot be read: ${(error as Error).message}`]
  }
}
