import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowLines } from '../../src/app/read-lines.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/base/bigint-json.ts';
import { canonicalRows, sortedLines } from '../../src/codec/canonical-json.ts';
import { rowAt } from '../../src/codec/rows.ts';
import type { IcebergTable } from '../../src/iceberg/iceberg-table.ts';
import { schemaToJson } from '../../src/iceberg/metadata/schema-json.ts';
import type { SnapshotPoint } from '../../src/table/queries.ts';
import { GoldenIceberg, textOf } from '../support/golden-iceberg.ts';
import { canonicalText, casesOf, listOf, objectsOf } from '../support/golden-tables.ts';

const pack = 'fixtures-iceberg';
const cases = casesOf(pack).filter((name) => name.startsWith('iceberg/'));
const metadataTables = ['history', 'refs', 'manifests', 'files', 'partitions', 'metadata_log_entries'] as const;
const outcome = { states: 0, snapshots: 0, metadataTables: 0 };

describe('tables of Spark and pyiceberg', () => {
  let golden: GoldenIceberg;

  beforeAll(async () => {
    golden = await GoldenIceberg.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  it.each(cases)('%s', async (name) => {
    const expected = golden.expectation(name);
    const table = await golden.openRecorded(name);
    const { metadata } = await table.refresh();
    expect(metadata.schemas.map((schema) => comparable(schemaToJson(schema)))).toEqual(listOf(expected['schemas']).map(comparable));
    expect(metadata.formatVersion).toBe(expected['formatVersion']);
    for (const [key, rows] of Object.entries(stateRows(expected))) {
      expectRows(await rowsOf(golden, table, key), rows, `rows of ${key}`);
      outcome.states += 1;
    }
    await checkSnapshots(golden, table, objectsOf(expected['snapshots']));
    // The table's own metadata file is where it was opened.
    const moved = { from: join(golden.directory, name, 'table'), to: textOf(expected['recordedLocation']).replace('file:', '') };
    for (const about of metadataTables) {
      const rows = expected[`metadataTable.${about}`];
      if (rows === undefined) continue;
      const found = (await golden.metadataRows(table, about)).map((row) => row.replace(moved.from, moved.to));
      expect(sortedLines(found), about).toEqual(sortedLines(listOf(rows).map(canonicalText)));
      outcome.metadataTables += 1;
    }
  });

  it.each(cases)('leaves out no file of %s that holds a row that is asked for', async (name) => {
    const table = await golden.openRecorded(name);
    const { schema } = await table.refresh();
    const all = await golden.rows(table, await table.refresh(), {});
    for (const { name: column, type } of schema.fields) {
      if (!['integer', 'long', 'date', 'string', 'timestamp', 'boolean'].includes(type.kind)) continue;
      const valueOf = (row: string): JsonValue | undefined => {
        const parsed = parseJson(row, 'row');
        return isJsonObject(parsed) ? parsed[column] : undefined;
      };
      const values = new Set(all.map(valueOf));
      for (const value of [...values].slice(0, 5)) {
        const wanted = all.filter((row) => valueOf(row) === value);
        const filter = value === null || value === undefined ? `\`${column}\` IS NULL` : `\`${column}\` = ${literalText(type.kind, value)}`;
        const found: string[] = [];
        for await (const line of rowLines({ table, engine: golden.engine }, { filter, canonical: true })) found.push(line);
        expect(found, filter).toEqual(sortedLines(wanted));
      }
    }
  });

  it('gives rows of format version 3 their ids and the sequence numbers they were changed at', async () => {
    const name = 'iceberg/v3-deletion-vectors';
    const table = await golden.openRecorded(name);
    const scan = await table.scan(await table.refresh());
    const relation = await golden.engine.scan(scan, { withRowTracking: true });
    const sql = `SELECT * FROM (${relation.sql})`;
    const rows: string[] = [];
    for await (const batch of golden.engine.read({ sql, schema: await golden.engine.describe(sql) }))
      rows.push(...canonicalRows(batch, {}));
    await relation.dispose();
    expect(sortedLines(rows)).toEqual(sortedLines(listOf(golden.expectation(name)['lineage']).map(canonicalText)));
  });

  it('tells deleted positions, from position delete files and deletion vectors', async () => {
    const vectors = await golden.openRecorded('iceberg/v3-deletion-vectors');
    const [, deletes] = await Promise.all([golden.metadataRows(vectors, 'delete_files'), golden.metadataRows(vectors, 'position_deletes')]);
    const positions = deletes.map((row) => parseJson(row, 'row')).map((row) => (isJsonObject(row) ? row['pos'] : undefined));
    expect(positions).toHaveLength(8);
    expect(new Set(positions).size).toBe(8);
    const files = await golden.openRecorded('iceberg/position-deletes');
    const early = await files.metadataTable('position_deletes', { kind: 'snapshot-id', id: 8174369769801048156n });
    const paths: unknown[] = [];
    for await (const batch of early.rows()) for (let at = 0; at < batch.rowCount; at++) paths.push(rowAt(batch, at)['delete_file_path']);
    expect(paths.every((path) => typeof path === 'string' && path.endsWith('-deletes.parquet'))).toBe(true);
    expect(paths).toHaveLength(2);
  });

  it('lists the files and entries of the snapshot, and of all snapshots', async () => {
    const table = await golden.openRecorded('iceberg/position-deletes');
    const counts: Record<string, number> = {};
    for (const name of table.metadataTables) counts[name] = (await golden.metadataRows(table, name)).length;
    expect(counts).toMatchObject({ files: 2, data_files: 2, delete_files: 0, snapshots: 7, all_data_files: 8, all_manifests: 25 });
    await expect(table.metadataTable('nope', undefined)).rejects.toMatchObject({ code: 'TABLE_OR_VIEW_NOT_FOUND' });
  });

  it('reads what appends have added after a snapshot', async () => {
    const table = await golden.openRecorded('iceberg/sort-order');
    const newest = await table.refresh();
    const history = (await table.history({})).map(({ operationParameters }) => BigInt(operationParameters['snapshot-id'] ?? 0));
    const first = history.at(-1) ?? 0n;
    const { statistics } = await table.scan(newest, { appendedAfter: first });
    expect(statistics.filesSelected).toBeGreaterThan(0);
    await expect(table.scan(newest, { appendedAfter: 1n })).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_ANCESTOR' });
  });

  it('covers every state, snapshot and metadata table of the pack', () => {
    expect({ cases: cases.length, ...outcome }).toEqual({ cases: 22, states: 121, snapshots: 93, metadataTables: 120 });
  });
});

/** A value of a canonical row as a literal of SQL. */
function literalText(kind: string, value: JsonValue): string {
  const text = typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : canonicalText(value);
  return kind === 'integer' || kind === 'boolean' || kind === 'string' ? text : `CAST(${text} AS ${kind === 'long' ? 'bigint' : kind})`;
}

/** Rows that no other engine reads are known by construction. */
function stateRows(expected: JsonObject): Readonly<Record<string, JsonValue>> {
  const rows = isJsonObject(expected['rows']) ? expected['rows'] : {};
  return Object.fromEntries(
    Object.entries(rows).flatMap(([key, value]) => {
      if (value === undefined || (isJsonObject(value) && value['error'] !== undefined && key !== 'current')) return [];
      const known = isJsonObject(value) && value['error'] !== undefined ? expected['rowsByConstruction'] : value;
      return known === undefined ? [] : [[key, known] as const];
    }),
  );
}

async function rowsOf(golden: GoldenIceberg, table: IcebergTable, key: string): Promise<readonly string[]> {
  const point = pointOf(key);
  return golden.rows(table, point === undefined ? await table.refresh() : await table.findSnapshot(point), {});
}

function pointOf(key: string): SnapshotPoint | undefined {
  if (key.startsWith('snapshot:')) return { kind: 'snapshot-id', id: BigInt(key.slice('snapshot:'.length)) };
  return key.startsWith('ref:') ? { kind: 'version', version: key.slice('ref:'.length) } : undefined;
}

function expectRows(rows: readonly string[], expected: JsonValue, what: string): void {
  if (Array.isArray(expected)) {
    expect(sortedLines(rows), what).toEqual(sortedLines(listOf(expected).map(canonicalText)));
    return;
  }
  const { count, sha256OfCanonicalLines } = isJsonObject(expected) ? expected : {};
  const hash = createHash('sha256');
  for (const line of sortedLines(rows)) hash.update(`${line}\n`);
  expect({ count: rows.length, hash: hash.digest('hex') }, what).toEqual({ count, hash: sha256OfCanonicalLines });
}

async function checkSnapshots(golden: GoldenIceberg, table: IcebergTable, expected: readonly JsonObject[]): Promise<void> {
  if (expected.length === 0) return;
  const rows = expected.map((snapshot) => {
    const { summary } = snapshot;
    const pairs = isJsonObject(summary) ? Object.entries(summary).map(([key, value]): JsonValue => [key, value ?? null]) : listOf(summary);
    return { ...snapshot, summary: [...pairs].sort((a, b) => (canonicalText(a) < canonicalText(b) ? -1 : 1)) };
  });
  expect(sortedLines(await golden.metadataRows(table, 'snapshots'))).toEqual(sortedLines(rows.map(canonicalText)));
  outcome.snapshots += rows.length;
}

/** Members in any order; blanks in the texts of types have no meaning. */
function comparable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return /^decimal\(/.test(value) ? value.replaceAll(' ', '') : value;
  if (Array.isArray(value)) return listOf(value).map(comparable);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      // No identifier fields are written as none at all, or as an empty list.
      const isEmpty = member === undefined || (key === 'identifier-field-ids' && listOf(member).length === 0);
      return isEmpty ? [] : [[key, comparable(member)] as const];
    }),
  );
}
