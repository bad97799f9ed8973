/** npm run client:types: writes the types of the client from the description of the gateway. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatedFiles } from './generated-files.ts'

const folder = fileURLToPath(new URL('../../clients/typescript/src/generated', import.meta.url))
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(await generatedFiles())) writeFileSync(join(folder, name), text)
