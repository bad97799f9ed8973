import {
  type ChainSettings,
  type DexDeployment,
  NATIVE_SUPPLY_RULES,
  type NativeSupply,
  QUOTE_KINDS,
  type QuoteAsset,
} from '../domain/chain-settings.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { biguint, type Codec, checked, id, list, optional, record, text, varuint, word } from './codec.ts'

const optionalBlock = optional(varuint)
const optionalId = optional(id)

const dex = record<DexDeployment>({
  amm: text,
  protocol: text,
  factory: id,
  fromBlock: optionalBlock,
  untilBlock: optionalBlock,
  initCodeHash: optionalId,
  deployer: optionalId,
  positionManager: optionalId,
})

const isAscending = (ids: readonly string[]): boolean =>
  ids.every((id, at) => at === 0 || (ids[at - 1] as string) < id)

const firstFields = record<Omit<ChainSettings, 'native'>>({
  rules: varuint,
  dexes: list(dex),
  quoteAssets: list(record<QuoteAsset>({ address: id, kind: word(QUOTE_KINDS) })),
  minDepthUsd: biguint,
  lockers: checked(list(id), isAscending, 'lockers are not in ascending order'),
})

const native = optional(record<NativeSupply>({ address: id, supplyRaw: optional(biguint) }))

export const settingsCodec: Codec<ChainSettings> = {
  write: (w, settings) => {
    firstFields.write(w, settings)
    if (settings.rules >= NATIVE_SUPPLY_RULES) native.write(w, settings.native)
    else if (settings.native !== undefined)
      throw new RangeError(`rules ${settings.rules} have no supply of the native coin`)
  },
  read: (r) => {
    const settings = firstFields.read(r)
    const coin = settings.rules >= NATIVE_SUPPLY_RULES ? native.read(r) : undefined
    return coin === undefined ? settings : { ...settings, native: coin }
  },
}

/** Settings as a record of their own, as the engine's state and the reader's index hold them. */
export function encodeSettings(settings: ChainSettings): Uint8Array {
  const w = new ByteWriter()
  settingsCodec.write(w, settings)
  return w.finish()
}

export function decodeSettings(bytes: Uint8Array): ChainSettings {
  const r = new ByteReader(bytes)
  const settings = settingsCodec.read(r)
  r.end()
  return settings
}
