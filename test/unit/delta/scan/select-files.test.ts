import { describe, expect, it } from 'vitest';
import { printJson } from '../../../../src/base/bigint-json.ts';
import type { AddFile, DeletionVector } from '../../../../src/delta/actions.ts';
import { DeltaSnapshot } from '../../../../src/delta/delta-snapshot.ts';
import { selectFiles } from '../../../../src/delta/scan/select-files.ts';
import { printSchemaString } from '../../../../src/delta/schema-json.ts';
import { bindExpression } from '../../../../src/expr/bind-expression.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import type { PartitionValues } from '../../../../src/table/staged-file.ts';
import { toVersion } from '../../../../src/table/version.ts';

interface FileSpec {
  readonly path: string;
  readonly stats?: string | undefined;
  readonly partitionValues?: PartitionValues | undefined;
  readonly deletionVector?: DeletionVector | undefined;
}

interface TableSpec {
  readonly columns: Readonly<Record<string, DataType>> | readonly Field[];
  readonly partitionColumns?: readonly string[] | undefined;
  readonly mapping?: 'name' | undefined;
  readonly files: readonly FileSpec[];
}

function fieldsOf(columns: TableSpec['columns']): readonly Field[] {
  if (Array.isArray(columns)) return columns as readonly Field[];
  return Object.entries(columns as Readonly<Record<string, DataType>>).map(([name, type]) => ({ name, type, nullable: true }));
}

function snapshotOf({ columns, partitionColumns = [], mapping, files }: TableSpec): DeltaSnapshot {
  const schema: StructType = { kind: 'struct', fields: fieldsOf(columns) };
  return DeltaSnapshot.replay('t', { version: toVersion(0), modifiedMs: 0 }, [
    { kind: 'protocol', minReaderVersion: mapping === undefined ? 1 : 2, minWriterVersion: mapping === undefined ? 2 : 5 },
    {
      kind: 'metaData',
      id: 'id',
      formatProvider: 'parquet',
      formatOptions: {},
      schemaString: printSchemaString(schema),
      partitionColumns,
      configuration: mapping === undefined ? {} : { 'delta.columnMapping.mode': mapping },
    },
    ...files.map(
      ({ path, partitionValues = {}, ...rest }): AddFile => ({
        kind: 'add',
        path,
        storedPath: path,
        partitionValues,
        sizeBytes: 1,
        modifiedMs: 0,
        dataChange: true,
        ...rest,
      }),
    ),
  ]);
}

function selected(table: TableSpec, filter?: string): readonly string[] {
  const snapshot = snapshotOf(table);
  const bound = filter === undefined ? undefined : bindExpression(parseExpression(filter), [{ schema: snapshot.schema }]);
  return selectFiles(snapshot, bound).map((file) => file.path);
}

const stats = (min: unknown, max: unknown, nulls = 0, rows = 10): string =>
  `{"numRecords":${rows},"minValues":${JSON.stringify({ c: min })},"maxValues":${JSON.stringify({ c: max })},"nullCount":{"c":${nulls}}}`;

const one = (type: DataType, text: string, filter: string): boolean =>
  selected({ columns: { c: type }, files: [{ path: 'f', stats: text }] }, filter).length === 1;

describe('selectFiles', () => {
  it('gives all files by the bytes of their path without a filter', () => {
    const files = ['b', 'a/2', 'ü', 'a/10', '𝒳', '\uffff'].map((path) => ({ path }));
    expect(selected({ columns: { c: { kind: 'integer' } }, files })).toEqual(['a/10', 'a/2', 'b', 'ü', '\uffff', '𝒳']);
  });

  it('leaves out files by partition values in either spelling, and keeps nulls apart', () => {
    const table: TableSpec = {
      columns: { p: { kind: 'timestamp' }, d: { kind: 'date' }, v: { kind: 'integer' } },
      partitionColumns: ['p', 'd'],
      files: [
        { path: 'a', partitionValues: { p: '2024-01-01 10:00:00', d: '2024-01-01' } },
        { path: 'b', partitionValues: { p: '2024-01-01T10:00:00.000000Z', d: '2024-01-02' } },
        { path: 'c', partitionValues: { p: '', d: undefined } },
        { path: 'd', partitionValues: { p: '2024-01-01T11:00:00.000000Z', d: '2024-01-02' } },
      ],
    };
    expect(selected(table, "p = TIMESTAMP '2024-01-01 10:00:00Z'")).toEqual(['a', 'b']);
    expect(selected(table, "d > DATE '2024-01-01' AND p < TIMESTAMP '2024-01-01 11:00:00Z'")).toEqual(['b']);
    expect(selected(table, 'p IS NULL')).toEqual(['c']);
    expect(selected(table, 'd IS NOT NULL AND v = 1')).toEqual(['a', 'b', 'd']);
  });

  it('leaves out files by their bounds, also of members of structs', () => {
    const table: TableSpec = {
      columns: { s: { kind: 'struct', fields: [{ name: 'n', type: { kind: 'long' }, nullable: true }] } },
      files: [
        { path: 'a', stats: '{"numRecords":2,"minValues":{"s":{"n":1}},"maxValues":{"s":{"n":5}},"nullCount":{"s":{"n":0}}}' },
        { path: 'b', stats: '{"numRecords":2,"minValues":{"s":{"n":9007199254740993}},"maxValues":{"s":{"n":9007199254740995}}}' },
        { path: 'c' },
      ],
    };
    expect(selected(table, 's.n = 3')).toEqual(['a', 'c']);
    expect(selected(table, 's.n = 9007199254740992')).toEqual(['c']);
    expect(selected(table, 's.n >= 9007199254740993')).toEqual(['b', 'c']);
    expect(selected(table, 's.n IS NULL')).toEqual(['b', 'c']);
  });

  it('finds statistics and partition values of mapped columns under their physical names', () => {
    const field = (name: string, physical: string, id: number): Field => ({
      name,
      type: { kind: 'integer' },
      nullable: true,
      metadata: { 'delta.columnMapping.id': id, 'delta.columnMapping.physicalName': physical },
    });
    const table: TableSpec = {
      columns: [field('a', 'col-1', 1), field('p', 'col-2', 2)],
      partitionColumns: ['p'],
      mapping: 'name',
      files: [
        { path: 'x', partitionValues: { 'col-2': '1' }, stats: '{"numRecords":1,"minValues":{"col-1":1},"maxValues":{"col-1":1}}' },
        { path: 'y', partitionValues: { 'col-2': '2' }, stats: '{"numRecords":1,"minValues":{"col-1":2},"maxValues":{"col-1":2}}' },
        { path: 'z', partitionValues: { 'col-2': '2' }, stats: '{"numRecords":1,"minValues":{"a":9},"maxValues":{"a":9}}' },
      ],
    };
    expect(selected(table, 'a = 2')).toEqual(['y', 'z']);
    expect(selected(table, 'p = 1')).toEqual(['x']);
  });

  it('widens the latest timestamp by the millisecond that statistics cut off', () => {
    const bounds = stats('2024-01-01T00:00:00.000Z', '2024-01-01T00:00:00.123Z');
    expect(one({ kind: 'timestamp' }, bounds, "c >= TIMESTAMP '2024-01-01 00:00:00.123999Z'")).toBe(true);
    expect(one({ kind: 'timestamp' }, bounds, "c >= TIMESTAMP '2024-01-01 00:00:00.1245Z'")).toBe(false);
    const zoned = stats('2023-12-31T16:00:00.000-08:00', '2023-12-31T16:00:00.000-08:00');
    expect(one({ kind: 'timestamp' }, zoned, "c = TIMESTAMP '2024-01-01 00:00:00Z'")).toBe(true);
    expect(one({ kind: 'timestamp' }, zoned, "c = TIMESTAMP '2023-12-31 16:00:00Z'")).toBe(false);
  });

  it('never trusts bounds of floating-point columns against NaN, and takes texts for no bounds', () => {
    expect(one({ kind: 'double' }, stats(1, 2), 'c < 0.5D')).toBe(false);
    expect(one({ kind: 'double' }, stats(1, 2), 'c > 3.0D')).toBe(true);
    expect(one({ kind: 'double' }, stats(1, 'NaN'), 'c > 3.0D')).toBe(true);
    expect(one({ kind: 'double' }, stats('-Infinity', 'Infinity'), 'c = 3.0D')).toBe(true);
    // 0.1 of a float is a little more than a tenth.
    expect(one({ kind: 'float' }, stats(0.1, 0.1), 'c > 0.1D')).toBe(true);
  });

  it('keeps rows whose long text begins like the bound', () => {
    const long = 'x'.repeat(32);
    expect(one({ kind: 'string' }, stats('a', `${long}\u007f`), `c = '${long}yyy'`)).toBe(true);
    expect(one({ kind: 'string' }, stats(long, `${long}\u007f`), `c <> '${long}'`)).toBe(true);
    expect(one({ kind: 'string' }, stats('a', 'c'), "c LIKE 'd%'")).toBe(false);
    // By bytes U+FFFF comes before U+1D4B3, by UTF-16 units after it.
    expect(one({ kind: 'string' }, stats('a', '𝒳'), "c > '\uffff'")).toBe(true);
  });

  it('keeps decimals that a writer put down through a double', () => {
    const type = { kind: 'decimal', precision: 38, scale: 18 } as const;
    const bounds = '{"numRecords":1,"minValues":{"c":12345678901234567.8},"maxValues":{"c":12345678901234567.8},"nullCount":{"c":0}}';
    expect(one(type, bounds, 'c = CAST("12345678901234567.812345678901234567" AS DECIMAL(38,18))')).toBe(true);
    expect(one(type, bounds, 'c > 12345678901234600BD')).toBe(false);
    expect(one({ kind: 'decimal', precision: 9, scale: 2 }, stats(-0.5, 0.5), 'c > 0.5')).toBe(false);
  });

  it('tells null counts from what they are of, deleted rows included', () => {
    const vector = { storageType: 'i', pathOrInlineDv: '', sizeInBytes: 0, cardinality: 9 };
    const table: TableSpec = {
      columns: { c: { kind: 'integer' } },
      files: [
        { path: 'all', stats: '{"numRecords":10,"nullCount":{"c":10}}' },
        { path: 'none', stats: stats(1, 9), deletionVector: vector },
        {
          path: 'some',
          stats: '{"numRecords":10,"minValues":{"c":1},"maxValues":{"c":9},"nullCount":{"c":3},"tightBounds":false}',
          deletionVector: vector,
        },
      ],
    };
    expect(selected(table, 'c IS NULL')).toEqual(['all', 'some']);
    expect(selected(table, 'c IS NOT NULL')).toEqual(['none', 'some']);
    expect(selected(table, 'c = 5')).toEqual(['none', 'some']);
  });

  it.each([
    '',
    '{',
    '[]',
    '{"minValues":5}',
    '{"minValues":{"c":{}},"maxValues":{"c":[]},"nullCount":{"c":-1}}',
    '{"minValues":{"c":"x"}}',
  ])('takes damaged statistics for none: %s', (text) => {
    expect(one({ kind: 'integer' }, text, 'c = 5 AND c IS NOT NULL')).toBe(true);
  });

  it('finds three files of a hundred thousand', () => {
    const count = 100_000;
    const snapshot = snapshotOf({
      columns: { c: { kind: 'long' }, p: { kind: 'string' } },
      partitionColumns: ['p'],
      files: Array.from({ length: count }, (_, index) => ({
        path: `p=${index % 50}/part-${String(index).padStart(8, '0')}.parquet`,
        partitionValues: { p: String(index % 50) },
        stats: stats(index * 10, index * 10 + 9),
      })),
    });
    const filter = bindExpression(parseExpression("c BETWEEN 500 AND 519 OR (p = '7' AND c < 100)"), [{ schema: snapshot.schema }]);
    expect(selectFiles(snapshot, filter)).toHaveLength(3);
    expect(printJson(snapshot.fileCount)).toBe(String(count));
  });
});
