// Unit and integration tests by what they need: plain Node, or a simulated page.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const alias = { '@contract': fileURLToPath(new URL('electron/contract', import.meta.url)) };

export default defineConfig({
  test: {
    // More workers than cores make timing tests lie; two is what the smallest machines have.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'node',
          environment: 'node',
          include: ['test/{unit,integration,clients}/**/*.test.ts'],
          exclude: ['test/unit/renderer/**'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'page',
          environment: 'jsdom',
          include: ['test/unit/renderer/**/*.test.{ts,tsx}'],
          setupFiles: ['test/unit/renderer/setup.ts'],
          testTimeout: 30_000,
        },
      },
    ],
  },
});
