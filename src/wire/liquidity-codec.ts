import {
  LIQUIDITY_KINDS,
  type LiquidityEvent,
  type MainPairSwitch,
  SWITCH_REASONS,
} from '../domain/change.ts'
import { id, record, recurringId, text, varuint, word } from './codec.ts'
import { eventRefFields, eventSideCodec, moneyCodec } from './field-codec.ts'

export const liquidityCodec = record<LiquidityEvent>({
  ...eventRefFields,
  kind: word(LIQUIDITY_KINDS),
  amm: text,
  transaction: id,
  provider: recurringId,
  wallet: id,
  side0: eventSideCodec,
  side1: eventSideCodec,
  valueUsd: moneyCodec,
  valueNative: moneyCodec,
  liquidityUsd: moneyCodec,
  liquidityNative: moneyCodec,
})

export const switchCodec = record<MainPairSwitch>({
  token: recurringId,
  block: varuint,
  time: varuint,
  oldPair: recurringId,
  newPair: recurringId,
  reason: word(SWITCH_REASONS),
})
