import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import solid from 'vite-plugin-solid'

/** `vite dev` shows the data of this gateway, with the public key that its page has. */
const gateway = process.env['CHAINTAPE_GATEWAY'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  // Relative, so that the files work below any path.
  base: './',
  plugins: [solid({ hot: false })],
  resolve: {
    alias: {
      // The sources: the terminal is built with the client that is beside it.
      '@chaintape/client': fileURLToPath(new URL('../clients/typescript/src/index.ts', import.meta.url)),
    },
  },
  build: {
    target: 'es2023',
    // The policy of the page allows no inlined files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { '/v2': gateway, '/ws': { target: gateway, ws: true } } },
})
