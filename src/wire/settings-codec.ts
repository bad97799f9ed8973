import {
  type ChainSettings,
  type DexDeployment,
  QUOTE_KINDS,
  type QuoteAsset,
} from '../domain/chain-settings.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { biguint, checked, id, list, optional, record, text, varuint, word } from './codec.ts'

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

export const settingsCodec = record<ChainSettings>({
  rules: varuint,
  dexes: list(dex),
  quoteAssets: list(record<QuoteAsset>({ address: id, kind: word(QUOTE_KINDS) })),
  minDepthUsd: biguint,
  lockers: checked(list(id), isAscending, 'lockers are not in ascending order'),
})

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
