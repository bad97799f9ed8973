import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { type Finding, note, ok, problem } from './finding.ts'
import { gigabytes } from './servers.ts'

const MIN_NODE = 24
const MIN_FREE_BYTES = 10 * 1024 ** 3

export function checkMachine({ data_dir }: Pick<Config, 'data_dir'>): Finding[] {
  const major = Number(process.versions.node.split('.')[0])
  const findings: Finding[] = [
    major >= MIN_NODE
      ? ok('Node.js', `version ${process.versions.node}`)
      : problem('Node.js', `version ${process.versions.node}`, `Install version ${MIN_NODE} or newer.`),
  ]
  const about = 'data_dir'
  let folder = resolve(data_dir)
  // It is created when a role starts.
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    return [...findings, problem(about, `${folder} is not writable`, 'Change its owner, or set data_dir.')]
  }
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${resolve(data_dir)}, ${gigabytes(free)} free`
  findings.push(
    free < MIN_FREE_BYTES
      ? note(about, text, 'The states of engines and their snapshots need room.')
      : ok(about, text),
  )
  return findings
}
