import { readFileSync } from 'node:fs'

/** PEM files for TLS: the server's CA, our certificate and its key. */
export type CertificateFiles = {
  readonly ca_file?: string | undefined
  readonly cert_file?: string | undefined
  readonly key_file?: string | undefined
}

/** The contents of the configured files under the names that `node:tls` uses; undefined if none is configured. */
export function readCertificates({
  ca_file: ca,
  cert_file: cert,
  key_file: key,
}: CertificateFiles): { ca?: Buffer; cert?: Buffer; key?: Buffer } | undefined {
  const files = Object.entries({ ca, cert, key }).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined
  })
  if (files.length === 0) return undefined
  return Object.fromEntries(files.map(([name, file]) => [name, readFileSync(file)]))
}
