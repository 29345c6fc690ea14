// Runs the seeded simulation with random seeds for a while: `node scripts/soak.mjs --minutes 5 [--active-ms 10000] [--seed 7]`.
// Ends with code 1 after a failing seed, and says how to replay it.
import '../test/support/run-typescript.mjs';
import events from 'node:events';
import { parseArgs } from 'node:util';

// A dozen calls of one process wait on one signal at the same simulated moment.
events.defaultMaxListeners = 100;

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, 'active-ms': { type: 'string' }, seed: { type: 'string' } },
});
const { runSimulation } = await import('../test/support/simulation/run-simulation.ts');
const activeMs = Number(values['active-ms'] ?? 10_000);
const untilMs = Date.now() + Number(values.minutes ?? 1) * 60_000;
let failed = 0;
let runs = 0;

async function run(seed) {
  const startedMs = Date.now();
  const { violations, counts } = await runSimulation({ seed, activeMs });
  runs += 1;
  const what = [...counts].map(([name, count]) => `${name} ${count}`).sort();
  console.log(`${violations.length === 0 ? 'ok  ' : 'FAIL'} seed ${seed} in ${Date.now() - startedMs} ms: ${what.join(', ')}`);
  if (violations.length === 0) return;
  failed += 1;
  for (const violation of violations) console.log(`     ${violation}`);
  console.log(`     replay: SEED=${seed} ACTIVE_MS=${activeMs} npx vitest run --project fast test/simulation`);
}

if (values.seed !== undefined) for (const seed of values.seed.split(',')) await run(Number(seed));
else while (Date.now() < untilMs) await run(Math.floor(Math.random() * 0x1_0000_0000));
console.log(`${runs} runs, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
