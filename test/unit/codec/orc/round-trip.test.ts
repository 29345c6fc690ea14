import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBatch, type InputRow } from '../../../../src/codec/build-columns.ts';
import { readOrcFile, readOrcRows } from '../../../../src/codec/orc/read/read-orc.ts';
import { type OrcCompression, type WriteOrcOptions, writeOrcFile } from '../../../../src/codec/orc/write/write-orc.ts';
import { type PlainRow, rowsOf } from '../../../../src/codec/rows.ts';
import { sliceRows } from '../../../../src/schema/slice.ts';
import type { DataType, StructType } from '../../../../src/schema/types.ts';
import { schemaAndRows } from '../../../support/random-batches.ts';

async function roundTrip(schema: StructType, rows: readonly InputRow[], options: Partial<WriteOrcOptions> = {}): Promise<PlainRow[]> {
  const { bytes } = await writeOrcFile([buildBatch(schema, rows)], { schema, ...options });
  return [...rowsOf(readOrcRows(readOrcFile(bytes, { name: 'written' }), { schema, batchRows: 7 }))];
}

function single(type: DataType): StructType {
  return { kind: 'struct', fields: [{ name: 'c', type, nullable: true, id: 1 }] };
}

const compressions: readonly OrcCompression[] = ['none', 'zlib', 'snappy', 'lz4', 'zstd'];

describe('a written ORC file', () => {
  it('gives back rows of any schema', async () => {
    await fc.assert(
      fc.asyncProperty(
        schemaAndRows,
        fc.constantFrom(...compressions),
        fc.nat(12),
        async ({ schema, rows }, compression, rowIndexStride) => {
          const batch = buildBatch(schema, rows);
          const { bytes, rowCount } = await writeOrcFile([batch], { schema, compression, rowIndexStride, stripeBytes: 500 });
          expect(rowCount).toBe(rows.length);
          const read = [...rowsOf(readOrcRows(readOrcFile(bytes, { name: 'written' }), { schema, batchRows: 5 }))];
          expect(read).toEqual([...rowsOf([batch])]);
        },
      ),
    );
  });

  it('takes slices whose buffers begin elsewhere, over several batches', async () => {
    await fc.assert(
      fc.asyncProperty(schemaAndRows, fc.nat(40), fc.nat(40), async ({ schema, rows }, one, two) => {
        const batch = buildBatch(schema, rows);
        const [from, until] = [Math.min(one, two, rows.length), Math.min(Math.max(one, two), rows.length)];
        const parts = [sliceRows(batch, { from, until }), sliceRows(batch, { from: 0, until: from })];
        const { bytes } = await writeOrcFile(parts, { schema });
        expect([...rowsOf(readOrcRows(readOrcFile(bytes, { name: 'written' }), { schema }))]).toEqual([...rowsOf(parts)]);
      }),
    );
  });

  it('without rows is a file', async () => {
    const schema = single({ kind: 'long' });
    const { bytes, rowCount, stripeOffsets } = await writeOrcFile([], { schema });
    expect({ rowCount, stripeOffsets }).toEqual({ rowCount: 0, stripeOffsets: [] });
    const file = readOrcFile(bytes, { name: 'empty' });
    expect(file.rowCount).toBe(0);
    expect(file.schema.names).toEqual(['c']);
    expect([...readOrcRows(file, { schema })]).toEqual([]);
  });

  it('keeps UUIDs, fixed lengths, times and nanoseconds', async () => {
    const uuid = 'f79c3e09-677c-4bbd-a479-3f349cb785e7';
    const rows = (values: readonly InputRow['c'][]): InputRow[] => values.map((c) => ({ c }));
    const cases: readonly [DataType, InputRow[]][] = [
      [{ kind: 'string', format: 'uuid' }, rows([uuid, null, uuid.toUpperCase().toLowerCase()])],
      [{ kind: 'binary', fixedLength: 2 }, rows([Uint8Array.of(1, 2), null, Uint8Array.of(3, 4)])],
      [{ kind: 'time' }, rows([0n, 86_399_999_999n, null])],
      [{ kind: 'timestamp_ns' }, rows([0n, -1n, -999_999_999n, -1_000_000_001n, 1_700_000_000_123_456_789n, null])],
      [{ kind: 'timestamp_ntz_ns' }, rows([-2_000_000_000n, 9_223_372_035_999_999_999n, -9_223_372_035_000_000_001n])],
    ];
    for (const [type, values] of cases) expect(await roundTrip(single(type), values), type.kind).toEqual(values);
  });

  // Readers take a second off times before 1970; the last second before it was read a second late by files of older writers.
  it('keeps microseconds on both sides of 1970 and 2015', async () => {
    const edges = [
      0n,
      -1n,
      -999n,
      -1000n,
      -1001n,
      -500_000n,
      -999_999n,
      -1_000_000n,
      -1_000_001n,
      -1_999_999n,
      -2_000_000n,
      1_420_070_400_000_000n,
    ];
    const values = [...edges, ...edges.map((edge) => 1_420_070_400_000_000n + edge), -62_135_596_800_000_000n, 253_402_300_799_999_999n];
    for (const kind of ['timestamp', 'timestamp_ntz'] as const) {
      const rows = values.map((c) => ({ c }));
      expect(await roundTrip(single({ kind }), rows)).toEqual(rows);
    }
  });

  it('keeps the bits of floating numbers', async () => {
    const values = [0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MIN_VALUE, Number.MAX_VALUE, null];
    expect(
      await roundTrip(
        single({ kind: 'double' }),
        values.map((c) => ({ c })),
      ),
    ).toEqual(values.map((c) => ({ c })));
  });

  it('has a dictionary for repeated strings and none for others', async () => {
    const schema = single({ kind: 'string' });
    const repeated = Array.from({ length: 5000 }, (_, index) => ({ c: `value ${index % 50} ${'x'.repeat(50)}` }));
    const different = Array.from({ length: 5000 }, (_, index) => ({ c: `value ${String(index).padStart(4, '0')} ${'x'.repeat(50)}` }));
    const size = async (rows: readonly InputRow[]): Promise<number> =>
      (await writeOrcFile([buildBatch(schema, rows)], { schema, compression: 'none' })).bytes.length;
    expect(await size(repeated)).toBeLessThan(10_000);
    expect(await size(different)).toBeGreaterThan(5000 * 60);
    expect(await roundTrip(schema, repeated)).toEqual(repeated);
    expect(await roundTrip(schema, different)).toEqual(different);
  });

  it('names the bytes of each column by id', async () => {
    const schema: StructType = {
      kind: 'struct',
      fields: [
        { name: 'a', type: { kind: 'double' }, nullable: true, id: 5 },
        { name: 'l', type: { kind: 'list', element: { kind: 'double' }, elementNullable: true, elementId: 9 }, nullable: true, id: 7 },
      ],
    };
    const rows = Array.from({ length: 10 }, (_, index) => ({ a: index / 3, l: [index / 7, index / 9] }));
    const { columnBytes } = await writeOrcFile([buildBatch(schema, rows)], { schema, compression: 'none' });
    expect([...columnBytes.keys()]).toEqual([5, 7, 9]);
    expect(columnBytes.get(5)).toBe(80);
    expect(columnBytes.get(9)).toBe(160);
  });

  it('carries the metadata it is given', async () => {
    const schema = single({ kind: 'long' });
    const metadata = new Map([['iceberg.schema', new TextEncoder().encode('{}')]]);
    const { bytes } = await writeOrcFile([], { schema, metadata });
    expect(readOrcFile(bytes, { name: 'written' }).metadata).toEqual(metadata);
  });

  it('refuses what is no UUID or has another length', async () => {
    await expect(roundTrip(single({ kind: 'string', format: 'uuid' }), [{ c: 'no uuid' }])).rejects.toMatchObject({
      code: 'VALUE_TYPE_MISMATCH',
    });
    await expect(roundTrip(single({ kind: 'binary', fixedLength: 3 }), [{ c: Uint8Array.of(1) }])).rejects.toMatchObject({
      code: 'VALUE_TYPE_MISMATCH',
    });
  });
});
