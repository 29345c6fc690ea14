import { expect } from 'vitest';
import type { CanonicalRow, IcebergReader, IcebergReading, Reading } from '../oracle.ts';
import { type CatalogTable, fullName, type IcebergBench, linesOf } from './iceberg-bench.ts';
import type { IcebergScript } from './iceberg-scripts.ts';

type Expectations = Pick<IcebergScript, 'refusals' | 'faults'>;

/**
 * Expects every engine to read of a table what we read: its rows, those of each of its snapshots and references, and its columns. Spark is
 * asked for the newest rows and the references, the others for every snapshot.
 */
export async function readersAgree(
  bench: IcebergBench,
  table: CatalogTable,
  { refusals = {}, faults = [] }: Expectations,
): Promise<readonly string[]> {
  const name = fullName(table);
  const newest = await bench.ours(`SELECT * FROM ${name}`);
  const refs = (await bench.collect(`SELECT name FROM ${name}.refs WHERE name != 'main'`)).map((row) => String(row['name']));
  const snapshots = (await bench.collect(`SELECT snapshot_id FROM ${name}.snapshots`)).map((row) => String(row['snapshot_id']));
  const ours = new Map<string, readonly string[]>([['newest', newest]]);
  for (const ref of refs) ours.set(ref, await bench.ours(`SELECT * FROM ${name} VERSION AS OF '${ref}'`));
  for (const id of snapshots) ours.set(id, await bench.ours(`SELECT * FROM ${name} VERSION AS OF ${id}`));
  for (const engine of ['spark', 'pyiceberg', 'duckdb'] as const) {
    if (faults.includes(engine)) continue;
    const points = engine === 'spark' ? ['newest', ...refs] : ['newest', ...refs, ...snapshots];
    const readings = points.map((point) => readingOf(engine, table, { point, isRef: refs.includes(point) }));
    const read = await bench.read(engine, readings);
    const told = points.map((point, index) => [point, answerOf(read[index], refusals[engine], ours.get(point))]);
    expect([engine, ...told]).toEqual([engine, ...points.map((point) => [point, ours.get(point)])]);
  }
  return newest;
}

function readingOf(
  engine: IcebergReader,
  table: CatalogTable,
  { point, isRef }: { readonly point: string; readonly isRef: boolean },
): IcebergReading {
  const path = engine === 'spark' ? fullName(table) : table.path;
  if (point === 'newest') return { what: 'rows', path };
  return isRef ? { what: 'rows', path, ref: point } : { what: 'rows', path, snapshot_id: point };
}

/** A foretold refusal counts as the rows that were expected; points without rows may be read by those who refuse others. */
function answerOf(
  reading: Reading | undefined,
  refusal: RegExp | undefined,
  expected: readonly string[] | undefined,
): readonly string[] | undefined {
  if (reading !== undefined && 'error' in reading && refusal?.test(reading.error.message) === true) return expected;
  return linesOf(reading);
}

/** Keys of summaries that say what a snapshot did to rows and partitions, and to deletes. */
const ofRows = ['added-records', 'deleted-records', 'total-records', 'changed-partition-count', 'replace-partitions'];
const ofDeletes = ['added-position-deletes', 'removed-position-deletes', 'total-position-deletes', 'total-equality-deletes'];

/** Expects two tables of one script to have the same columns, operations, references and partitions, and the readers to tell the same of ours. */
export async function expectSameHistory(
  bench: IcebergBench,
  { ours, theirs }: { readonly ours: CatalogTable; readonly theirs: CatalogTable },
  { compared }: Pick<IcebergScript, 'compared'>,
): Promise<void> {
  const [schemaOfOurs, schemaOfTheirs] = await bench.read('pyiceberg', [
    { what: 'schema', path: ours.path },
    { what: 'schema', path: theirs.path },
  ]);
  expect(linesOf(schemaOfOurs)).toEqual(linesOf(schemaOfTheirs));
  const described = (table: CatalogTable): string => `DESCRIBE TABLE ${fullName(table)}`;
  expect(await bench.ours(described(ours))).toEqual(await bench.spark(described(theirs)));
  expect(await bench.spark(described(ours))).toEqual(await bench.spark(described(theirs)));
  const snapshots = (table: CatalogTable): string => `SELECT * FROM ${fullName(table)}.snapshots ORDER BY committed_at`;
  const shown = await bench.collect(snapshots(ours));
  expect(shown).toEqual(await bench.oracle.sql(snapshots(ours)));
  const done = (rows: readonly CanonicalRow[]): unknown => rows.map((row) => deedOf(row, compared));
  expect(done(shown)).toEqual(done(await bench.oracle.sql(snapshots(theirs))));
  const refs = (table: CatalogTable): string =>
    `SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms FROM ${fullName(table)}.refs`;
  expect(await bench.ours(refs(ours))).toEqual(await bench.spark(refs(theirs)));
  const files = (table: CatalogTable): string =>
    `SELECT content, file_format, spec_id, record_count, sort_order_id FROM ${fullName(table)}.files`;
  expect(await bench.ours(files(ours))).toEqual(await bench.spark(files(ours)));
}

function deedOf(row: CanonicalRow, compared: IcebergScript['compared']): unknown {
  const summary = new Map(row['summary'] as readonly (readonly [string, string])[]);
  const keys = { operations: [], rows: ofRows, all: [...ofRows, ...ofDeletes] }[compared ?? 'all'];
  return { operation: row['operation'], ...Object.fromEntries(keys.map((key) => [key, summary.get(key)])) };
}

/** Expects Spark and us to tell the same of where the rows of a table lie and what they are known by. */
export async function expectSamePlaces(bench: IcebergBench, table: CatalogTable, { faults = [] }: Expectations): Promise<void> {
  if (faults.includes('spark')) return;
  const name = fullName(table);
  const [version] = await bench.collect(`SHOW TBLPROPERTIES ${name} ('format-version')`);
  const partitioned = (await bench.session.table(`${name}.files`).columns).includes('partition');
  const columns = [
    ...['_file', '_pos', '_spec_id'],
    ...(partitioned ? ['_partition'] : []),
    ...(version?.['value'] === '3' ? ['_row_id', '_last_updated_sequence_number'] : []),
  ];
  const query = `SELECT ${columns.join(', ')} FROM ${name}`;
  expect(await bench.ours(query)).toEqual(await bench.spark(query));
}
