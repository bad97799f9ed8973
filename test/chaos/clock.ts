/**
 * Loaded into a role before its program: its wall clock is off by the milliseconds in a file, whenever they change. Timers
 * go by the monotonic clock, which no setting of the wall clock moves.
 */
import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'

const file = process.env['CHAOS_CLOCK_FILE'] ?? ''
const LOOK_MS = 50
/** A process that is killed writes no compiled modules, so they are written once all are loaded. */
const LOADED_MS = 5_000
const RealDate = Date
const realNow = Date.now.bind(Date)
let offset = read()

setInterval(() => {
  offset = read()
}, LOOK_MS).unref()

setTimeout(flushCompileCache, LOADED_MS).unref()

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [realNow() + offset] : args, newTarget) as Date,
  apply: () => new RealDate(realNow() + offset).toString(),
  get: (target, name, receiver) =>
    name === 'now' ? () => realNow() + offset : Reflect.get(target, name, receiver),
})

function read(): number {
  return Number(readFileSync(file, 'utf8'))
}
