/** npm run build: compiles src to dist, which is what the package ships. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const folder = import.meta.dirname
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
rmSync(join(folder, 'dist'), { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: folder, stdio: 'inherit' })
// The compiler rewrites imports of modules, but not those of declarations, which older compilers refuse.
for (const file of globSync('dist/**/*.d.ts', { cwd: folder })) {
  const path = join(folder, file)
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(from ')(\.[^']+)\.ts'/g, "$1$2.js'"))
}
