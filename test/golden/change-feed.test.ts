import { describe, expect, it } from 'vitest';
import { type JsonValue, printJson } from '../../src/base/bigint-json.ts';
import { RowSelection } from '../../src/cdf/row-selection.ts';
import { readParquet } from '../../src/codec/parquet/read-parquet.ts';
import { type PlainValue, rowsOf } from '../../src/codec/rows.ts';
import { ChangeReader } from '../../src/delta/changes/change-reader.ts';
import type { DataType } from '../../src/schema/types.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import type { ChangeFile, VersionChanges } from '../../src/table/changes.ts';
import { toVersion } from '../../src/table/version.ts';
import { BenchProcess } from '../support/delta-bench.ts';
import { type GoldenFeed, loadGoldenFeed } from '../support/golden-change-feed.ts';

const readerOf = (feed: GoldenFeed): ChangeReader => new ChangeReader(new BenchProcess(feed));

/** The changes of a range as canonical rows (`_change_type` and `_commit_version` last), sorted. */
async function changeRows(feed: GoldenFeed, range: { readonly from: number; readonly to: number }): Promise<readonly string[]> {
  const reader = readerOf(feed);
  const rows: string[] = [];
  for (let version = range.from; version <= range.to; version++) {
    const changes = await reader.changesOf(toVersion(version));
    for (const file of changes.files) rows.push(...(await rowsOfFile(feed.store, changes, file)));
  }
  return rows.sort();
}

async function rowsOfFile(store: ObjectStore, changes: VersionChanges, file: ChangeFile): Promise<readonly string[]> {
  const { fields } = changes.schema;
  const stored = fields.filter((field) => !changes.partitionColumns.includes(field.name));
  const changeType = { name: '_change_type', type: { kind: 'string' }, nullable: true } as const;
  const { batches } = await readParquet(await store.read(file.path), { schema: { kind: 'struct', fields: [...stored, changeType] } });
  const selection = new RowSelection(file);
  const changed = batches.map((batch) => selection.of(batch));
  return Array.from(rowsOf(changed), (row) => {
    const values: Record<string, JsonValue> = {};
    for (const { name, type } of fields) values[name] = canonical(row[name] ?? file.partitionValues[name] ?? null, type);
    const recorded = row['_change_type'];
    return printJson({
      ...values,
      _change_type: file.kind === 'recorded' && typeof recorded === 'string' ? recorded : file.kind,
      _commit_version: changes.version,
    });
  });
}

function canonical(value: PlainValue, type: DataType): string | number | null {
  if (value === null || typeof value === 'string') return value;
  return type.kind === 'date' ? new Date(Number(value) * 86_400_000).toISOString().slice(0, 10) : Number(value);
}

describe('change feeds written by other engines', () => {
  it.each(['kernel-cdf-table', 'kernel-cdf-table-simple', 'rs-simple_table_with_cdc'])('reads the changes of %s', async (name) => {
    const feed = await loadGoldenFeed(name);
    const readable = feed.changes.filter(({ error }) => error === undefined);
    expect(readable.length).toBeGreaterThan(3);
    for (const range of readable) expect(await changeRows(feed, range)).toEqual(range.rows.map(printJson).sort());
  });

  it('names the version at which the feed was off, and reads those around it', async () => {
    const feed = await loadGoldenFeed('kernel-table-with-cdf');
    await expect(readerOf(feed).changesOf(toVersion(2))).rejects.toMatchObject({ code: 'CDF_NOT_ENABLED' });
    for (const version of [3, 4]) expect((await readerOf(feed).changesOf(toVersion(version))).files).toEqual([]);
  });

  it('reports a gap for files that are not there', async () => {
    const feed = await loadGoldenFeed('kernel-table-with-cdf');
    await expect(readerOf(feed).changesOf(toVersion(1))).rejects.toMatchObject({ code: 'CDF_GAP' });
  });

  it('reads the rows that deletion vectors came to cover and to leave', async () => {
    const feed = await loadGoldenFeed('kernel-cdf-table-with-dv');
    const readable = feed.changes.filter(({ error }) => error === undefined);
    expect(readable.length).toBeGreaterThan(3);
    for (const range of readable) expect(await changeRows(feed, range)).toEqual(range.rows.map(printJson).sort());
  });

  it('refuses a version beyond the newest', async () => {
    const feed = await loadGoldenFeed('kernel-cdf-table');
    await expect(readerOf(feed).changesOf(toVersion(4))).rejects.toMatchObject({ code: 'TABLE_VERSION_NOT_FOUND' });
  });
});
