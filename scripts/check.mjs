// `npm run check`: everything that is checked without running the product. The linter takes as long as all others together, so they run
// beside it. Each tells what it has to say when it is done; all of them run, whatever the others found.
import { spawn } from 'node:child_process';
import { root } from './bootstrap.mjs';

const lanes = [['lint'], ['format:check', 'types', 'layers', 'dead', 'tidy']];

const failed = (await Promise.all(lanes.map(runLane))).flat();
if (failed.length > 0) console.error(`failed: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);

/** Runs checks one after another; gives those that failed. */
async function runLane(names) {
  const found = [];
  for (const name of names) if (!(await passes(name))) found.push(name);
  return found;
}

async function passes(name) {
  const started = Date.now();
  const child = spawn('npm', ['run', '-s', name], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (said += chunk));
  const code = await new Promise((done) => child.once('close', done).once('error', () => done(1)));
  process.stdout.write(`${said}${name}: ${code === 0 ? 'ok' : 'FAILED'}, ${Math.round((Date.now() - started) / 1000)} s\n`);
  return code === 0;
}
