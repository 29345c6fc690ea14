// One run over a loaded topic: from process start until the table holds all of it.
import { DeltaWatch } from '../lib/delta-watch.mjs';
import { IcebergWatch } from '../lib/iceberg-watch.mjs';
import { expectedSums } from '../lib/orders.mjs';
import { twinOf } from '../lib/tidewater.mjs';
import { holdsExactly } from '../lib/table-check.mjs';
import { megabytes, round, sleep } from '../lib/util.mjs';

const pollMs = 50;
const settleMs = 300;
// Of a table and its twin, the twin has the rows last.
const watches = {
  delta: (location) => new DeltaWatch(location),
  iceberg: (location) => new IcebergWatch(location),
  both: (location) => new IcebergWatch(twinOf(location), location),
};
const defaultLimitMs = 300_000;

/**
 * Waits until the table at `location` holds `rows` rows, ends the program, and says what it took. `watch` may count something else than rows,
 * and `isExact` know otherwise what the table must hold.
 */
export async function measureIngest({
  process,
  location,
  rows,
  format = 'delta',
  whileRunning = () => undefined,
  watch = watches[format](location),
  isExact = () => holdsExactly(watch.files, expectedSums(rows)),
  limitMs = defaultLimitMs,
}) {
  const deadline = Date.now() + limitMs;
  while (watch.poll() < rows && process.running && Date.now() < deadline) await sleep(pollMs);
  const during = await whileRunning();
  const surroundings = process.surroundings();
  await sleep(settleMs);
  const exit = await process.stop();
  watch.poll();
  if (watch.commits.length === 0) return { failed: `no commit, exit ${exit}` };
  const first = watch.commits[0];
  const last = watch.commits.at(-1);
  const seconds = (last.atMs - process.startedMs) / 1000;
  const cpuSeconds = process.cpuSecondsAt(last.atMs);
  return {
    rows: watch.rows,
    seconds: round(seconds, 2),
    rowsPerSecond: Math.round(watch.rows / seconds),
    cpuSeconds: round(cpuSeconds, 2),
    rowsPerCpuSecond: Math.round(watch.rows / cpuSeconds),
    ...beforeTail(process, watch.commits),
    ...steadyState(process, watch.commits),
    firstCommitSeconds: round((first.atMs - process.startedMs) / 1000, 2),
    peakRssMb: megabytes(process.peakRssBytes),
    ...during,
    commits: watch.commits.length,
    files: watch.files.length,
    tableMb: megabytes(watch.bytes),
    exact: await isExact(),
    exit,
    ...surroundings,
  };
}

/** From process start to the last but one commit: what is left out is the last batch, which waits for its age. */
function beforeTail(process, commits) {
  const until = commits.at(-2);
  if (until === undefined) return {};
  return { rowsPerSecondBeforeTail: Math.round(until.rows / ((until.atMs - process.startedMs) / 1000)) };
}

/** Between the first commit and the last but one: without start-up, and without the last batch's wait for its age. */
function steadyState(process, commits) {
  if (commits.length < 3) return {};
  const from = commits[0];
  const until = commits.at(commits.length > 3 ? -2 : -1);
  const rows = until.rows - from.rows;
  const seconds = (until.atMs - from.atMs) / 1000;
  const cpuSeconds = process.cpuSecondsAt(until.atMs) - process.cpuSecondsAt(from.atMs);
  return { steadyRowsPerSecond: Math.round(rows / seconds), steadyRowsPerCpuSecond: Math.round(rows / cpuSeconds) };
}
