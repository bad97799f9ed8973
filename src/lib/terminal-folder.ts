import { fileURLToPath } from 'node:url'

/** The built web terminal: beside the sources in a clone, and beside the compiled modules in the package. */
export const TERMINAL_FOLDER = fileURLToPath(new URL('../../web/dist/', import.meta.url))
