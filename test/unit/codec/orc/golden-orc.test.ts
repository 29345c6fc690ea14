import { describe, expect, it } from 'vitest';
import { openOrcFile, readOrcFile, readOrcRows, streamOrcRows } from '../../../../src/codec/orc/read/read-orc.ts';
import { writeOrcFile } from '../../../../src/codec/orc/write/write-orc.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import type { ColumnBatch } from '../../../../src/schema/columns.ts';
import type { StructType } from '../../../../src/schema/types.ts';
import { expectedRows, goldenSchema } from './expected-rows.ts';
import { goldenBytes, goldenFile } from './golden-files.ts';

const counts: Readonly<Record<string, number>> = {
  'spark-iceberg-zlib': 700,
  'spark-iceberg-zstd': 50,
  'spark-iceberg-snappy': 50,
  'spark-iceberg-lz4': 50,
  'spark-iceberg-none': 50,
  'pyarrow-uncompressed': 50,
  'pyarrow-zlib': 50,
  'pyarrow-snappy': 50,
  'pyarrow-lz4': 50,
  'pyarrow-zstd': 50,
  'pyarrow-stripes': 700,
  'pyarrow-0.11': 200,
};

describe('an ORC file of another writer', () => {
  it.each(Object.entries(counts))('%s gives the rows that were written', (name, count) => {
    const file = goldenFile(name);
    expect(file.rowCount).toBe(count);
    const rows = [...rowsOf(readOrcRows(file, { schema: goldenSchema, batchRows: 64 }))];
    expect(rows).toEqual(expectedRows(count));
  });

  it.each(['0.11', '0.12'])('of Hive version %s gives small integers and the columns that it has', (version) => {
    const file = goldenFile(`spark-native-${version}`);
    const small: StructType = {
      kind: 'struct',
      fields: [
        { name: 't8', type: { kind: 'byte' }, nullable: true },
        { name: 't16', type: { kind: 'short' }, nullable: true },
      ],
    };
    // Spark's own writer counts days before 1582 in the mixed calendar, and its timestamps without zone are of another form.
    const fields = goldenSchema.fields.filter(({ name }) => !['dt', 'ts', 'tn'].includes(name));
    const schema: StructType = { kind: 'struct', fields: [...small.fields, ...fields] };
    const rows = [...rowsOf(readOrcRows(file, { schema }))];
    const kept = new Set(fields.map(({ name }) => name));
    const expected = expectedRows(300).map((row, id) => ({
      ...Object.fromEntries(Object.entries(row).filter(([name]) => kept.has(name))),
      t8: id % 128,
      t16: id * 3,
    }));
    expect(rows).toEqual(expected);
  });

  it('in several stripes is read stripe by stripe', () => {
    expect(goldenFile('pyarrow-stripes').stripes.length).toBeGreaterThan(1);
  });

  it('shows its columns with names and attributes', () => {
    const { schema } = goldenFile('spark-iceberg-none');
    expect(schema.names).toEqual(goldenSchema.fields.map((field) => field.name));
    expect(schema.children[0]?.kind).toBe('bigint');
    expect(schema.children[0]?.attributes).toEqual(
      new Map([
        ['iceberg.id', '1'],
        ['iceberg.long-type', 'LONG'],
        ['iceberg.required', 'true'],
      ]),
    );
    expect(schema.children[15]?.children[0]?.attributes.get('iceberg.id')).toBe('19');
  });

  it('written in another time zone gives what clocks there showed', () => {
    const schema: StructType = {
      kind: 'struct',
      fields: [
        { name: 'n', type: { kind: 'integer' }, nullable: true },
        { name: 't', type: { kind: 'timestamp_ntz' }, nullable: true },
      ],
    };
    const rows = [...rowsOf(readOrcRows(goldenFile('spark-native-new-york'), { schema }))];
    expect(rows.map(({ t }) => (typeof t === 'bigint' ? wallClock(t) : t))).toEqual([
      '2020-07-01T08:00:00.123456',
      '2020-01-01T07:00:00.000000',
      '2014-12-31T19:00:00.000000',
      '1969-12-31T18:59:58.250000',
      '1950-06-30T20:00:00.000001',
      '1899-12-31T19:00:00.000000',
      '2020-03-08T01:59:59.999999',
      '2020-03-08T03:00:00.000000',
      '2020-11-01T01:30:00.000000',
      '2020-11-01T01:30:00.000000',
      null,
      '2100-06-30T20:00:00.000000',
    ]);
  });

  it('is read the same from a source of ranges, which is asked for the tail and the stripes only', async () => {
    const bytes = goldenBytes('pyarrow-stripes');
    const asked: { from: number; until: number }[] = [];
    const file = await openOrcFile({
      name: 'ranges',
      byteCount: bytes.length,
      read: (range) => {
        asked.push(range);
        return Promise.resolve(bytes.subarray(range.from, range.until));
      },
    });
    const batches: ColumnBatch[] = [];
    for await (const batch of streamOrcRows(file, { schema: goldenSchema })) batches.push(batch);
    expect([...rowsOf(batches)]).toEqual(expectedRows(700));
    expect(asked.length).toBe(1 + file.stripes.length);
  });

  it.each(['none', 'zlib', 'snappy', 'lz4', 'zstd'] as const)('survives being written again with %s', async (compression) => {
    const batches = readOrcRows(goldenFile('spark-iceberg-zlib'), { schema: goldenSchema, batchRows: 97 });
    const written = await writeOrcFile(batches, { schema: goldenSchema, compression, rowIndexStride: 100, stripeBytes: 60_000 });
    const file = readOrcFile(written.bytes, { name: 'written' });
    expect(written.rowCount).toBe(700);
    expect(written.stripeOffsets.length).toBeGreaterThan(1);
    expect(file.stripes.map(({ offset }) => offset)).toEqual(written.stripeOffsets);
    expect([...rowsOf(readOrcRows(file, { schema: goldenSchema }))]).toEqual(expectedRows(700));
  });
});

function wallClock(micros: bigint): string {
  const text = new Date(Number((micros - (((micros % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1000n)).toISOString().slice(0, 19);
  return `${text}.${String(((micros % 1_000_000n) + 1_000_000n) % 1_000_000n).padStart(6, '0')}`;
}
