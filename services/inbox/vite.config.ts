import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run dev -w @countersign/inbox` serves the pages beside a running server, whose API it passes on. */
const SERVER = 'http://127.0.0.1:3100';

export default defineConfig({
  plugins: [react()],
  build: {
    target: ['chrome111', 'firefox115', 'safari16.4'],
    // Nothing stands in the page: the Content Security Policy refuses inline scripts and styles, and data: for anything but pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': SERVER, '/docs': SERVER } },
});
