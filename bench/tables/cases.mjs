// What is measured: the data it needs, and what a run's figure is counted in (at full size).
const rows = 5_000_000;
const keys = 500_000;
const files = 100_000;

/**
 * `engines`: who takes part. `fromScale`: by engine, the divisor of the size from which on it does. `setup`: what is done to a copy of the data
 * before the run, not measured. `sums`: what it left is counted and compared.
 */
const deltaCase = (data, more) => ({ format: 'delta', engines: ['tidewater', 'delta-rs', 'spark'], data, changes: false, ...more });
const icebergCase = (data, more) => ({ format: 'iceberg', engines: ['tidewater', 'pyiceberg', 'duckdb', 'spark'], data, changes: false, ...more });
const writers = { changes: true, engines: ['tidewater', 'pyiceberg', 'spark'] };
const maintainers = { changes: true, engines: ['tidewater', 'spark'] };

export const cases = {
  'load-log': deltaCase('log', { unit: 'commits', count: 10_000 }),
  'load-checkpoint': deltaCase('checkpoint', { unit: 'files', count: files }),
  count: deltaCase('checkpoint', { unit: 'files', count: files }),
  'scan-full': deltaCase('base', { unit: 'rows', count: rows }),
  'scan-selective': deltaCase('base', { unit: 'rows', count: rows }),
  'merge-copy': deltaCase('base', { unit: 'keys', count: keys, changes: true }),
  'merge-vectors': deltaCase('base', { unit: 'keys', count: keys, changes: true, setup: 'prepare-vectors', engines: ['tidewater', 'spark'] }),
  update: deltaCase('base', { unit: 'rows', count: rows, changes: true }),
  delete: deltaCase('base', { unit: 'rows', count: rows, changes: true }),
  optimize: deltaCase('small', { unit: 'MB', changes: true }),
  vacuum: deltaCase('orphans', { unit: 'files', count: 10_000, changes: true }),
  changes: deltaCase('changes', { unit: 'changes', count: 2 * keys }),
  'iceberg-load': icebergCase('history', { unit: 'snapshots', count: 1_000 }),
  'iceberg-files': icebergCase('history', { unit: 'files', count: files }),
  'iceberg-count': icebergCase('history', { unit: 'files', count: files }),
  'iceberg-plan': icebergCase('history', { unit: 'files', count: files }),
  'iceberg-scan-full': icebergCase('base', { unit: 'rows', count: rows }),
  'iceberg-scan-selective': icebergCase('base', { unit: 'rows', count: rows }),
  'iceberg-append-10': icebergCase('young', { unit: 'commits', fixedCount: 20, ...writers }),
  'iceberg-append-1000': icebergCase('history', { unit: 'commits', fixedCount: 20, ...writers }),
  'iceberg-merge-copy': icebergCase('base', { unit: 'keys', count: keys, sums: true, fromScale: { pyiceberg: 20 }, ...writers }),
  'iceberg-merge-read': icebergCase('base', { unit: 'keys', count: keys, sums: true, setup: 'merge-on-read', ...maintainers }),
  'iceberg-compact': icebergCase('small', { unit: 'MB', sums: true, ...maintainers }),
  'iceberg-expire': icebergCase('replaced', { unit: 'files', count: 9_990, ...maintainers }),
};

/** Cases by name, or all of a format by the format's. @throws Error for a name that is none. */
export function casesNamed(names) {
  const all = Object.keys(cases);
  if (names.length === 0) return all;
  const formats = new Set(Object.values(cases).map(({ format }) => format));
  const unknown = names.filter((name) => !(name in cases) && !formats.has(name));
  if (unknown.length > 0) throw new Error(`no case ${unknown.join(', ')}; there are ${[...formats, ...all].join(', ')}`);
  return all.filter((name) => names.includes(name) || names.includes(cases[name].format));
}
