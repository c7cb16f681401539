// Builds the page into dist/renderer: hashed assets, no inline scripts, nothing inlined as data: so that the policy can stay strict.
import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at('renderer'),
  base: './',
  plugins: [react()],
  resolve: { alias: { '@contract': at('electron/contract') } },
  build: {
    outDir: at('dist/renderer'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    reportCompressedSize: false,
  },
});
