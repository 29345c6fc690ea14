// What the two workloads of upserts say of their runs.
import { sumOfMetric } from '../lib/tidewater.mjs';
import { medians, round } from '../lib/util.mjs';

/** True when the table has one row for each key and adds up. */
export function isExpected(found, expected) {
  return found.rows === expected.rows && found.distinct === expected.rows && found.cents === expected.cents && found.ids === expected.ids;
}

/** Seconds that commits spent in finding rows, and the files whose keys they read. */
export function lookupFigures(samples) {
  return {
    lookupSeconds: round(sumOfMetric(samples, 'tidewater_key_lookup_seconds_sum'), 2),
    lookupFiles: sumOfMetric(samples, 'tidewater_key_lookup_files_sum'),
  };
}

/** Medians of the runs of each contender, and their ratios to the loop. */
export function reportUpserts(context, workload, results) {
  const all = Object.entries(results).map(([contender, runs]) => [contender, medians(runs)]);
  for (const [contender, result] of all) context.emit({ workload, contender, median: true, ...result });
  const loop = all.find(([contender]) => contender === 'loop')?.[1];
  for (const [contender, result] of loop === undefined ? [] : all.filter(([contender]) => contender !== 'loop')) {
    const ratios = Object.fromEntries(compared.map((key) => [key, round(result[key] / loop[key], 2)]));
    context.emit({ workload, ratio: `${contender} / loop`, ...ratios });
  }
  context.table(all.map(([contender, result]) => rowOf(contender, result)));
}

const compared = ['rowsPerSecond', 'rowsPerCpuSecond', 'steadyRowsPerSecond', 'steadyRowsPerCpuSecond', 'firstCommitSeconds', 'peakRssMb'];

function rowOf(contender, result) {
  return {
    contender,
    'events/s': result.rowsPerSecond,
    'events/CPU-s': result.rowsPerCpuSecond,
    'steady events/s': result.steadyRowsPerSecond,
    'steady events/CPU-s': result.steadyRowsPerCpuSecond,
    'first commit s': result.firstCommitSeconds,
    'peak MB': result.peakRssMb,
    'lookup s': result.lookupSeconds,
    commits: result.commits,
    files: result.files,
    'stored / live': result.storedPerRow,
    'scan / fresh': result.scanRatioCpu,
    exact: result.exact,
    foreign: result.foreignCores,
  };
}
