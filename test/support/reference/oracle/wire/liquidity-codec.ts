import {
  LIQUIDITY_KINDS,
  type LiquidityEvent,
  type MainPairSwitch,
  SWITCH_REASONS,
} from '../../../../../src/domain/change.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import {
  readEventRef,
  readEventSide,
  readMoney,
  readWord,
  writeEventRef,
  writeEventSide,
  writeMoney,
} from './field-codec.ts'

export function writeLiquidity(w: ByteWriter, event: LiquidityEvent): void {
  writeEventRef(w, event)
  w.u8(LIQUIDITY_KINDS.indexOf(event.kind))
  w.text(event.amm)
  w.id(event.transaction)
  w.recurringId(event.provider)
  w.id(event.wallet)
  writeEventSide(w, event.side0)
  writeEventSide(w, event.side1)
  writeMoney(w, event.valueUsd)
  writeMoney(w, event.valueNative)
  writeMoney(w, event.liquidityUsd)
  writeMoney(w, event.liquidityNative)
}

export function readLiquidity(r: ByteReader): LiquidityEvent {
  return {
    ...readEventRef(r),
    kind: readWord(r, LIQUIDITY_KINDS),
    amm: r.text(),
    transaction: r.id(),
    provider: r.id(),
    wallet: r.id(),
    side0: readEventSide(r),
    side1: readEventSide(r),
    valueUsd: readMoney(r),
    valueNative: readMoney(r),
    liquidityUsd: readMoney(r),
    liquidityNative: readMoney(r),
  }
}

export function writeSwitch(w: ByteWriter, to: MainPairSwitch): void {
  w.recurringId(to.token)
  w.varuint(to.block)
  w.varuint(to.time)
  w.recurringId(to.oldPair)
  w.recurringId(to.newPair)
  w.u8(SWITCH_REASONS.indexOf(to.reason))
}

export function readSwitch(r: ByteReader): MainPairSwitch {
  return {
    token: r.id(),
    block: r.varuint(),
    time: r.varuint(),
    oldPair: r.id(),
    newPair: r.id(),
    reason: readWord(r, SWITCH_REASONS),
  }
}
