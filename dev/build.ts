/** npm run build: compiles src to dist, which is what the package ships. A clone runs its sources without it. */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repo = fileURLToPath(new URL('..', import.meta.url))
const [src, dist] = [join(repo, 'src'), join(repo, 'dist')]
rmSync(dist, { recursive: true, force: true })
execFileSync(process.execPath, [join(repo, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: repo,
  stdio: 'inherit',
})
// Statements, scripts, examples and settings that the program reads from beside its modules.
cpSync(src, dist, {
  recursive: true,
  filter: (file) => statSync(file).isDirectory() || /\.(sql|lua|json|xml)$/.test(file),
})
chmodSync(join(dist, 'main.js'), 0o755)
