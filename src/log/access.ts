import { readFileSync } from 'node:fs'
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'
import { ChaintapeError } from '../domain/errors.ts'
import type { CertificateFiles } from '../lib/certificates.ts'
import { natsServer } from '../lib/waiting.ts'

/** Where the servers are, and who connects. */
export type AccessOptions = CertificateFiles & {
  readonly urls: readonly string[]
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly token?: string | undefined
  readonly creds_file?: string | undefined
}

/** Retrying does not fix credentials. */
export async function connectOrRefuse(
  urls: readonly string[],
  options: NodeConnectionOptions,
): Promise<NatsConnection> {
  try {
    return await connect(options)
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error
    const { address } = natsServer(urls)
    throw new ChaintapeError(
      'server_unauthorized',
      `NATS at ${address} refused the credentials in the settings nats.*`,
    )
  }
}

export function accessOptions(options: AccessOptions): NodeConnectionOptions {
  const { username, password, token, creds_file, ca_file, cert_file, key_file } = options
  const tls = {
    ...(ca_file !== undefined && { caFile: ca_file }),
    ...(cert_file !== undefined && { certFile: cert_file }),
    ...(key_file !== undefined && { keyFile: key_file }),
  }
  return {
    ...(username !== undefined && { user: username, pass: password ?? '', ...inboxOf(username) }),
    ...(token !== undefined && { token }),
    ...(creds_file !== undefined && { authenticator: credsAuthenticator(readCredentials(creds_file)) }),
    ...(Object.keys(tls).length > 0 && { tls }),
  }
}

/** With an inbox per user, server permissions can prevent users from reading each other's replies. */
function inboxOf(username: string): Pick<NodeConnectionOptions, 'inboxPrefix'> {
  return /^[\w-]+$/.test(username) ? { inboxPrefix: `_INBOX.${username}` } : {}
}

function readCredentials(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new ChaintapeError('config_invalid', `nats.creds_file: ${(error as Error).message}`)
  }
}
