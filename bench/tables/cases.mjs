// What is measured: the data it needs, and what a run's figure is counted in (at full size).
const rows = 5_000_000;
const keys = 500_000;

export const cases = {
  'load-log': { data: 'log', unit: 'commits', count: 10_000, changes: false },
  'load-checkpoint': { data: 'checkpoint', unit: 'files', count: 100_000, changes: false },
  'scan-full': { data: 'base', unit: 'rows', count: rows, changes: false },
  'scan-selective': { data: 'base', unit: 'rows', count: rows, changes: false },
  'merge-copy': { data: 'base', unit: 'keys', count: keys, changes: true },
  'merge-vectors': { data: 'base', unit: 'keys', count: keys, changes: true, vectors: true, leftOut: ['delta-rs'] },
  update: { data: 'base', unit: 'rows', count: rows, changes: true },
  delete: { data: 'base', unit: 'rows', count: rows, changes: true },
  optimize: { data: 'small', unit: 'MB', changes: true },
  vacuum: { data: 'orphans', unit: 'files', count: 10_000, changes: true },
  changes: { data: 'changes', unit: 'changes', count: 2 * keys, changes: false },
};
