// Damages tables by bytes and by structure with random seeds for a while, and reads them: `npm run fuzz -- --minutes 10 [--seed 7]`.
// Ends with code 1 after a failing seed, and says how to replay it.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const suites = ['test/golden/fuzzed-tables.test.ts', 'test/golden/iceberg-fuzzed.test.ts'];
/** Seeds are taken one after the other: a run uses fewer than this. */
const seedsPerRun = 10_000;

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const untilMs = Date.now() + Number(values.minutes ?? 1) * 60_000;
let seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
let runs = 0;
let failed = 0;
do {
  const { status, stdout, stderr } = spawnSync('npx', ['vitest', 'run', '--project', 'fast', ...suites], {
    env: { ...process.env, SEED: String(seed), PROPERTY_RUNS: '1' },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  runs += 1;
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} seed ${seed}`);
  if (status !== 0) {
    failed += 1;
    console.log(`${stdout}\n${stderr}\nreplay: SEED=${seed} npx vitest run --project fast ${suites.join(' ')}`);
  }
  seed = (seed + seedsPerRun) % 2 ** 30;
} while (Date.now() < untilMs);
console.log(`${runs} runs, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
