import { randomBytes, randomInt } from 'node:crypto'
import { API_KEY_RANDOM_BYTES, formatApiKey, formatChartToken } from '../../../domain/api-key.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { LatestValues } from '../../../log/latest-values.ts'
import { decodeKeyRecord, digestOf, encodeKeyRecord, type KeyRecord } from './key-record.ts'

export type NewKey = { readonly name: string; readonly plan: string; readonly expiresAt?: number | undefined }

/** The one moment at which a key can be read. */
export type ShownKey = { readonly record: KeyRecord; readonly apiKey: string }

const ID_LENGTH = 12
const ID_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz'

/** Key management for operators; every gateway watches the same values and follows within milliseconds. */
export function createKeyStore(values: Pick<LatestValues, 'put' | 'find' | 'read'>, now: () => number) {
  const seconds = (): number => Math.floor(now() / 1_000)

  const find = async (id: string): Promise<{ record: KeyRecord; seq: number }> => {
    const found = /^[a-z0-9]+$/.test(id) ? await values.find(id) : undefined
    if (found === undefined)
      throw new ChaintapeError('unknown_key', `unknown key ${id}; run chaintape keys list`)
    return { record: decodeKeyRecord(found.name, found.body), seq: found.seq }
  }

  /** Two operators at once: the second one's change is made again, on top of the first one's. */
  const change = async (id: string, edit: (record: KeyRecord) => KeyRecord): Promise<KeyRecord> => {
    for (;;) {
      const { record, seq } = await find(id)
      const edited = edit(record)
      if (edited === record || (await values.put(id, encodeKeyRecord(edited), seq))) return edited
    }
  }

  return {
    create: async ({ name, plan, expiresAt }: NewKey): Promise<ShownKey> => {
      const apiKey = generateApiKey()
      const record: KeyRecord = {
        id: generateId(),
        name,
        plan,
        created_at: seconds(),
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
        secrets: [{ sha256: digestOf(apiKey) }],
      }
      const isNew = await values.put(record.id, encodeKeyRecord(record), 0)
      if (!isNew) throw new ChaintapeError('internal', 'the new key has the ID of an existing one')
      return { record, apiKey }
    },

    list: async (): Promise<KeyRecord[]> => {
      const records = (await values.read('*')).map(({ name, body }) => decodeKeyRecord(name, body))
      return records.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
    },

    get: async (id: string): Promise<KeyRecord> => (await find(id)).record,

    /** For good. */
    revoke: (id: string): Promise<KeyRecord> =>
      change(id, (record) =>
        record.revoked_at === undefined ? { ...record, revoked_at: seconds() } : record,
      ),

    /** A token that charts can carry in their address: for the UDF datafeed only, metered on the key. */
    createChartToken: async (id: string): Promise<{ readonly tokenId: string; readonly token: string }> => {
      const token = formatChartToken(randomBytes(API_KEY_RANDOM_BYTES))
      const added = { id: generateId(), sha256: digestOf(token), created_at: seconds() }
      await change(id, (record) => {
        if (record.revoked_at !== undefined)
          throw new ChaintapeError('unknown_key', `key ${id} was revoked; create a new one`)
        return { ...record, chart_tokens: [...(record.chart_tokens ?? []), added] }
      })
      return { tokenId: added.id, token }
    },

    revokeChartToken: (id: string, tokenId: string): Promise<KeyRecord> =>
      change(id, (record) => {
        const left = (record.chart_tokens ?? []).filter((token) => token.id !== tokenId)
        if (left.length === (record.chart_tokens ?? []).length)
          throw new ChaintapeError('unknown_key', `key ${id} has no chart token ${tokenId}`)
        return { ...record, chart_tokens: left }
      }),

    /** A new secret under the same id; the former one is accepted for a while longer, one before that is not. */
    rotate: async (id: string, graceSeconds: number): Promise<ShownKey> => {
      const apiKey = generateApiKey()
      const record = await change(id, (current) => {
        if (current.revoked_at !== undefined) {
          throw new ChaintapeError('unknown_key', `key ${id} was revoked; create a new one`)
        }
        const [newest] = current.secrets
        const former =
          newest === undefined || graceSeconds === 0 ? [] : [{ ...newest, until: seconds() + graceSeconds }]
        return { ...current, secrets: [{ sha256: digestOf(apiKey) }, ...former] }
      })
      return { record, apiKey }
    },
  }
}

export type KeyStore = ReturnType<typeof createKeyStore>

function generateApiKey(): string {
  return formatApiKey(randomBytes(API_KEY_RANDOM_BYTES))
}

/** Names a key where the key itself must not stand: in logs, in usage, on the command line. */
function generateId(): string {
  return Array.from({ length: ID_LENGTH }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]).join('')
}
