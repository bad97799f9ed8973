import { pick, type Random } from './random.ts'

export type Named = { readonly name: string; readonly symbol: string }

/** Tokens that are there from the first day, the most popular first. */
export const ESTABLISHED: readonly Named[] = [
  ...named('Pepper', 'PEP', 'Harbor', 'HRBR', 'Lumen Grid', 'LGRID', 'Tidepool', 'TIDE', 'Orchard', 'ORCH'),
  ...named('Quartz', 'QRTZ', 'Mothlight', 'MOTH', 'Fathom', 'FTHM', 'Kestrel', 'KEST', 'Basalt', 'BSLT'),
  ...named('Copper Fox', 'CFOX', 'Drift', 'DRIFT', 'Ember', 'EMBR', 'Fern', 'FERN', 'Glacier', 'GLCR'),
  ...named('Halcyon', 'HALO', 'Inkwell', 'INK', 'Juniper', 'JUNI', 'Keystone', 'KEY', 'Lantern', 'LNTN'),
  ...named('Meridian', 'MRDN', 'Nimbus', 'NMBS', 'Opal', 'OPAL', 'Parallax', 'PRLX', 'Quill', 'QUILL'),
  ...named('Rookery', 'ROOK', 'Saffron', 'SAFF', 'Thicket', 'THKT', 'Umber', 'UMBR', 'Vesper', 'VSPR'),
]

const FIRST = [
  'Moon',
  'Baby',
  'Turbo',
  'Sir',
  'Mega',
  'Sad',
  'Lazy',
  'Based',
  'Tiny',
  'Hyper',
  'Grumpy',
  'Neon',
]
const SECOND = [
  'Frog',
  'Otter',
  'Goose',
  'Cat',
  'Hamster',
  'Shrimp',
  'Toad',
  'Llama',
  'Walrus',
  'Bean',
  'Newt',
]

/** A name for a token that is launched later. Names may repeat, as they do on every launchpad. */
export function memeName(random: Random): Named {
  const [first, second] = [pick(random, FIRST), pick(random, SECOND)]
  return { name: `${first} ${second}`, symbol: `${first}${second}`.slice(0, 8).toUpperCase() }
}

function named(...words: readonly string[]): Named[] {
  return words.flatMap((name, at) => (at % 2 === 0 ? [{ name, symbol: words[at + 1] ?? name }] : []))
}
