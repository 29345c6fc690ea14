// `npm test`: prepare the checkout, run everything that needs no servers, then the short proof with real ones. Flags go to vitest.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

const given = process.argv.slice(2);
const suites = [
  ['--project', 'fast'],
  ['--project', 'e2e', 'test/e2e/smoke.test.ts'],
];

// Random inputs are tried less often by hand than by continuous integration.
const propertyRuns = process.env.PROPERTY_RUNS ?? (process.env.CI === undefined ? '0.3' : '1');

await bootstrap();
for (const [index, suite] of suites.entries()) {
  const code = await vitest([...suite, ...given, ...reporting(`npm-test-${index}`)]);
  if (code !== 0) process.exit(code);
}

// Continuous integration adds the counts of all runs up.
function reporting(name) {
  const folder = process.env.TIDEWATER_TEST_REPORTS;
  return folder === undefined ? [] : ['--reporter=default', '--reporter=json', `--outputFile.json=${join(folder, `${name}.json`)}`];
}

async function vitest(args) {
  return await new Promise((done) => {
    const child = spawn(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PROPERTY_RUNS: propertyRuns },
    });
    // Ctrl-C reaches the child by itself; a signal to this process alone is passed on, and its end waited for.
    const pass = () => child.kill('SIGTERM');
    const wait = () => undefined;
    process.on('SIGTERM', pass).on('SIGINT', wait);
    child.once('close', (code, signal) => {
      process.off('SIGTERM', pass).off('SIGINT', wait);
      done(code ?? (signal === null ? 1 : 130));
    });
  });
}
