import { type ContractReport, RISK_CODES, type RiskFactor } from '../domain/contract-report.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readInspection, writeInspection } from './inspection-codec.ts'

export function writeReport(w: ByteWriter, report: ContractReport): void {
  const { inspection, time, creator, holdings, score } = report
  w.recurringId(report.token)
  writeInspection(w, inspection)
  w.varuint(time)
  w.optional(creator, (known) => w.id(known))
  w.bool(holdings.hasUnreliableBalances)
  for (const ppm of [holdings.creatorPpm, holdings.ownerPpm, holdings.lockedPpm, holdings.largePpm])
    w.optional(ppm, (known) => w.varuint(known))
  w.optional(holdings.pool, ({ pair, holders, issuedRaw, lockedPpm }) => {
    w.id(pair)
    w.varuint(holders)
    w.biguint(issuedRaw)
    w.varuint(lockedPpm)
  })
  w.varuint(score.version)
  w.u8(score.points)
  w.list(score.factors, ({ code, points, evidence }) => {
    w.u8(RISK_CODES.indexOf(code))
    w.u8(points)
    w.list(evidence, (each) => w.text(each))
  })
}

export function readReport(r: ByteReader): ContractReport {
  const ppm = (): number | undefined => r.optional(() => r.varuint())
  return {
    token: r.id(),
    inspection: readInspection(r),
    time: r.varuint(),
    creator: r.optional(() => r.id()),
    holdings: {
      hasUnreliableBalances: r.bool(),
      creatorPpm: ppm(),
      ownerPpm: ppm(),
      lockedPpm: ppm(),
      largePpm: ppm(),
      pool: r.optional(() => ({
        pair: r.id(),
        holders: r.varuint(),
        issuedRaw: r.biguint(),
        lockedPpm: r.varuint(),
      })),
    },
    score: { version: r.varuint(), points: r.u8(), factors: r.list(() => readFactor(r)) },
  }
}

function readFactor(r: ByteReader): RiskFactor {
  const code = RISK_CODES[r.u8()]
  if (code === undefined) throw new ChaintapeError('message_unreadable', 'unknown factor of risk')
  return { code, points: r.u8(), evidence: r.list(() => r.text()) }
}
