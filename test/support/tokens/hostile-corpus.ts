import { encodeAbiParameters, type Hex, numberToHex, padHex, toHex } from 'viem'
import { type Artifact, compile } from '../../../dev/market/artifacts.ts'

/** Tokens made to break or deceive readers, and what has to be published for each. */

const SCRIPTED = new URL('ScriptedTokens.sol', import.meta.url)
const OTHERS = new URL('./HostileTokens.sol', import.meta.url)

export type HostileCase = {
  readonly why: string
  readonly make: Making
  readonly expect: Expected
}

/** How it comes into being: a contract that is deployed, code that is put there, or an address that is just there. */
export type Making =
  | { readonly artifact: Artifact; readonly args: readonly unknown[]; readonly liquid: boolean }
  | { readonly code: Hex }
  | { readonly address: Hex }

export type Expected = {
  readonly name?: string
  readonly symbol?: string
  /** Exact values in its row; undefined must be absent. */
  readonly row?: Readonly<Record<string, unknown>>
  /** Expected values of its contract response. */
  readonly contract?: Readonly<Record<string, unknown>>
  /** Some of its factors. */
  readonly factors?: readonly string[]
  /** The token it imitates: a search finds it behind that one, and flags it. */
  readonly impostorOf?: 'USDT' | 'PEP'
}

export const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
export const HUGE = 2n ** 256n - 1n

const text = (shown: string): Hex => encodeAbiParameters([{ type: 'string' }], [shown])
const bytes = (raw: Hex): Hex => encodeAbiParameters([{ type: 'bytes' }], [raw])
const number = (value: bigint): Hex => numberToHex(value, { size: 32 })
const REVERTS: Hex = '0x'

export function scripted(contract: string): Artifact {
  return compile(contract, SCRIPTED)
}

type Answers = { readonly name?: Hex; readonly symbol?: Hex; readonly decimals?: Hex; readonly supply?: Hex }

function token(answers: Answers, contract = 'ScriptedToken', liquid = true): Making {
  const { name = text('Plain'), symbol = text('PLN'), decimals = number(18n) } = answers
  const all = [name, symbol, decimals, answers.supply ?? number(10n ** 27n)]
  return { artifact: scripted(contract), args: [all], liquid }
}

/** The name and the symbol are the same bytes, and so is what is shown of them. */
function named(why: string, raw: Hex | string, shown: string, expect: Expected = {}): HostileCase {
  const answer = raw.startsWith('0x') ? bytes(raw as Hex) : text(raw)
  return {
    why,
    make: token({ name: answer, symbol: answer }),
    expect: { ...expect, name: shown, symbol: shown },
  }
}

function impostor(why: string, symbol: string, shown: string, impostorOf: 'USDT' | 'PEP'): HostileCase {
  const make = token({ name: text('Tether USD'), symbol: text(symbol), decimals: number(6n) })
  return { why, make, expect: { symbol: shown, impostorOf } }
}

function deployed(contract: string, args: readonly unknown[] = [], source = OTHERS): Making {
  return { artifact: compile(contract, source), args, liquid: false }
}

const X = (count: number): string => 'X'.repeat(count)

const NAMES: readonly HostileCase[] = [
  impostor('Armenian letters', 'ՍSDT', 'ՍSDT', 'USDT'),
  impostor('a Cyrillic letter', 'USD\u0422', 'USD\u0422', 'USDT'),
  impostor('a Cherokee letter', 'USD\u13a2', 'USD\u13a2', 'USDT'),
  impostor('wide letters', 'ＵＳＤＴ', 'ＵＳＤＴ', 'USDT'),
  impostor('the same symbol', 'USDT', 'USDT', 'USDT'),
  impostor('the same symbol in small letters', 'usdt', 'usdt', 'USDT'),
  impostor('with a dollar sign in front', '$USDT', '$USDT', 'USDT'),
  impostor('a zero-width space inside', 'US\u200bDT', 'USDT', 'USDT'),
  impostor('Greek letters', '\u03a1\u0395\u03a1', '\u03a1\u0395\u03a1', 'PEP'),
  impostor('a NUL inside', 'PE\u0000P', 'PEP', 'PEP'),
  impostor('an accent on top', 'PE\u0301P', 'P\u00c9P', 'PEP'),
  named('a right-to-left override', '\u202eTDSU', 'TDSU'),
  named('isolates and marks of direction', '\u2066\u200fabc\u2069', 'abc'),
  named('a script', '<script>alert(1)</script>', '<script>alert(1)</script>'),
  named('a picture that fails', '"><img src=x onerror=alert(1)>', '"><img src=x onerror=alert(1)>'),
  named('an address to visit', 'Claim at https://usdt.example', 'Claim at https://usdt.example'),
  named('quotes and statements', "'); DROP TABLE tokens; --", "'); DROP TABLE tokens; --"),
  named('JSON that ends what it stands in', '"}],"x":{"\\', '"}],"x":{"\\'),
  named('templates', '$' + '{7*7}{{7*7}}', '$' + '{7*7}{{7*7}}'),
  named('a name that every object has', '__proto__', '__proto__'),
  named('another one', 'constructor', 'constructor'),
  named('lines and tabs', 'A\r\nB\tC\u2028D\u0085', 'ABCD'),
  named('the escape sequences of terminals', '\u001b[31mred\u001b[0m', '[31mred[0m'),
  named('half of a surrogate pair', '0x41eda08042', 'AB'),
  named('bytes that are no UTF-8', '0x41fffe80c342', 'AB'),
  named('a slash in too many bytes', '0x41c0af42', 'AB'),
  named('private and unassigned characters', 'A\ue000\u{10ffff}\uffffB', 'AB'),
  named('tags that nobody sees', 'A\u{e0041}\u{e0042}B', 'AB'),
  named('a byte order mark', '\ufeffABC', 'ABC'),
  named('joined emoji', '\u{1f468}\u200d\u{1f469}', '\u{1f468}\u{1f469}'),
  named('accents without end', `Z${'\u0336'.repeat(900)}`, `Z${'\u0336'.repeat(63)}`),
  named('nothing', '', ''),
  named('nothing but space', ' \u00a0\u3000\u2003 ', ''),
  named('a thousand letters', X(1_000), X(64)),
  named('three thousand letters', X(3_000), X(64)),
  {
    why: 'bytes32 instead of text',
    make: token({ name: toHex('Maker', { size: 32 }), symbol: toHex('MKR', { size: 32 }) }),
    expect: { name: 'Maker', symbol: 'MKR' },
  },
  {
    why: 'bytes32 that are no text',
    make: token({ name: padHex('0xff', { size: 32 }), symbol: number(HUGE) }),
    expect: { name: '', symbol: '' },
  },
  {
    why: 'neither name nor symbol',
    make: token({ name: REVERTS, symbol: REVERTS }),
    expect: { name: '', symbol: '', row: { decimal: 18, holders: 2 } },
  },
  { why: 'a hundred kilobytes', make: deployed('LongToken'), expect: { name: X(64), symbol: X(64) } },
  {
    why: 'a megabyte',
    make: deployed('MegabyteToken'),
    expect: { name: '', symbol: '', row: { decimal: undefined, total: undefined } },
  },
  {
    why: 'all the gas there is',
    make: deployed('GasEater'),
    expect: { name: '', symbol: '', row: { decimal: undefined, total: undefined } },
  },
  { why: 'offsets and lengths that lie', make: deployed('LyingToken'), expect: { name: '', symbol: '' } },
]

const unpriced = { current_price_usd: undefined, market_cap: undefined, fdv: undefined }

const NUMBERS: readonly HostileCase[] = [
  {
    why: '255 decimals',
    make: token({ decimals: number(255n) }),
    expect: { row: { decimal: 255, ...unpriced } },
  },
  {
    why: '37 decimals',
    make: token({ decimals: number(37n) }),
    expect: { row: { decimal: 37, ...unpriced } },
  },
  {
    why: 'decimals beyond a byte',
    make: token({ decimals: number(256n) }),
    expect: { row: { decimal: undefined, total: undefined, ...unpriced } },
  },
  {
    why: 'as many decimals as can be',
    make: token({ decimals: number(HUGE) }),
    expect: { row: { decimal: undefined, total: undefined, ...unpriced } },
  },
  {
    why: 'decimals that revert',
    make: token({ decimals: REVERTS }),
    expect: { row: { decimal: undefined, total: undefined, ...unpriced } },
  },
  {
    why: 'decimals that are too short to be a number',
    make: token({ decimals: '0x12' }),
    expect: { row: { decimal: undefined } },
  },
  { why: 'decimals that change', make: token({}, 'ShiftyToken'), expect: { name: 'Plain' } },
  {
    why: 'as large a supply as can be',
    make: token({ supply: number(HUGE), decimals: number(0n) }),
    expect: { row: { total: HUGE.toString() } },
  },
  { why: 'no supply', make: token({ supply: number(0n) }), expect: { row: { total: '0', fdv: '0' } } },
  {
    why: 'a supply that reverts',
    make: token({ supply: REVERTS }),
    expect: { row: { total: undefined, fdv: undefined, market_cap: undefined } },
  },
  {
    why: 'balances that are a lie',
    make: token({}, 'LyingBalances'),
    expect: { row: { holders: undefined, market_cap: undefined } },
  },
  {
    why: 'transfers that are a lie',
    make: token({}, 'LyingTransfers'),
    expect: { row: { holders: undefined, market_cap: undefined }, factors: ['odd_balances'] },
  },
]

const KILOBYTES_24 = 24_576

const CODE: readonly HostileCase[] = [
  {
    why: '24 KB of JUMPDEST',
    make: { code: `0x${'5b'.repeat(KILOBYTES_24)}` },
    expect: { name: '', contract: { is_proxy: 0, has_mint_method: 0, is_honeypot: -1 } },
  },
  {
    why: '24 KB of jumps to each other',
    make: { code: `0x${'5b600056'.repeat(KILOBYTES_24 / 4)}` },
    expect: { name: '', contract: { is_proxy: 0, is_honeypot: -1 } },
  },
  {
    why: 'all functions that can be named, and more',
    make: { code: `0x${fakeDispatcher(1_800)}` },
    expect: { name: '', contract: { is_honeypot: -1, has_mint_method: 1 }, factors: ['mint'] },
  },
  {
    why: 'code that ends in the middle of an instruction',
    make: { code: '0x60805b7f' },
    expect: { name: '', contract: { is_honeypot: -1 } },
  },
  {
    why: 'a megabyte as the reason why it cannot be moved',
    make: token({}, 'BombInTransfer'),
    expect: { contract: { is_honeypot: -1, risk_level: -1 }, factors: ['cannot_be_bought'] },
  },
  {
    why: 'all gas is gone when it is moved',
    make: token({}, 'GasInTransfer'),
    expect: { contract: { is_honeypot: -1 }, factors: ['cannot_be_bought'] },
  },
  {
    why: 'an account without code',
    make: { address: '0x00000000000000000000000000000000000e0a01' },
    expect: { name: '', symbol: '', contract: { is_honeypot: -1 }, factors: ['trade_not_tried'] },
  },
  {
    why: 'a precompiled contract that hashes what it is asked',
    make: { address: '0x0000000000000000000000000000000000000002' },
    expect: { row: { decimal: undefined }, contract: { is_honeypot: -1 }, factors: ['trade_not_tried'] },
  },
  {
    why: 'a precompiled contract that repeats what it is asked',
    make: { address: '0x0000000000000000000000000000000000000004' },
    expect: { name: '', contract: { is_honeypot: -1 }, factors: ['trade_not_tried'] },
  },
]

/** Compares what is asked with many selectors, `mint(address,uint256)` being the first. */
function fakeDispatcher(count: number): string {
  const selectors = Array.from({ length: count }, (_, at) =>
    at === 0 ? '40c10f19' : (0x10_000_000 + at * 7_919).toString(16).padStart(8, '0'),
  )
  const compare = selectors.map((selector) => `8063${selector}1461000057`).join('')
  return `60003560e01c${compare}00`
}

export const HOSTILE_CASES: readonly HostileCase[] = [...NAMES, ...NUMBERS, ...CODE]
