// Builds what runs in Node and in Electron's main process: one ES module per entry, npm packages left outside, but zod:
// it comes in some hundred files, and every process and thread that starts would look for each of them.
// `--mode preload` builds the preload script alone, as one CommonJS file (a sandboxed preload cannot be a module).
import { defineConfig } from 'vite';

const ENTRIES = {
  main: 'electron/main.ts',
  headless: 'electron/headless.ts',
  cli: 'electron/cli/index.ts',
  runtime: 'electron/runtime/index.ts',
  'store-worker': 'electron/store/worker.ts',
  'file-worker': 'electron/library/file-worker.ts',
  'download-worker': 'electron/library/download/worker.ts',
};

export default defineConfig(({ mode }) =>
  mode === 'preload'
    ? {
        build: {
          outDir: 'dist',
          emptyOutDir: false,
          minify: false,
          lib: { entry: 'electron/preload.ts', formats: ['cjs'], fileName: () => 'preload.cjs' },
          rollupOptions: { external: ['electron'] },
        },
      }
    : {
        ssr: { noExternal: ['zod'] },
        build: {
          ssr: true,
          outDir: 'dist',
          emptyOutDir: false,
          target: 'node20',
          minify: false,
          sourcemap: true,
          rollupOptions: {
            input: ENTRIES,
            output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
          },
        },
      },
);
