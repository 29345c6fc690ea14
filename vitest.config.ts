import { defineConfig, type ViteUserConfig } from 'vitest/config';

interface ProjectOptions {
  readonly globalSetup?: string[];
  /** Default: each file loads all modules anew, which costs more than many files take. */
  readonly isolate?: boolean;
  readonly maxConcurrency?: number;
}

const project = (name: string, include: readonly string[], timeoutMs: number, options: ProjectOptions = {}) => ({
  test: {
    name,
    include: [...include],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    pool: 'forks' as const,
    // A failure's message tells the whole of what was compared, as each finding of a list.
    chaiConfig: { truncateThreshold: 0 },
    ...options,
  },
});
/** Starts the broker and the Redis that the environment does not name. */
const servers = { globalSetup: ['test/support/global-servers.ts'] };

/** Files of these share their modules: nothing in `src` keeps state outside of what is made of it. */
const shared = { isolate: false };

/** Projects by what they need: `fast` nothing, `integration` real servers, `engines` other engines, `e2e` and `walk` a built product. */
const config: ViteUserConfig = defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project('fast', ['test/{unit,conformance,golden,simulation,property}/**/*.test.ts', 'test/*.test.ts'], 120_000, shared),
      project('integration', ['test/integration/**/*.test.ts'], 180_000, servers),
      project('parity', ['test/parity/**/*.test.ts'], 300_000, shared),
      project('engines', ['test/engines/**/*.test.ts'], 300_000, { ...shared, globalSetup: ['test/engines/support/global-oracle.ts'] }),
      project('e2e', ['test/e2e/**/*.test.ts'], 600_000, servers),
      project('walk', ['test/walk/**/*.test.ts'], 600_000, { ...servers, maxConcurrency: 3 }),
    ],
  },
});
export default config;
