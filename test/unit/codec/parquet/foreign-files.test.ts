import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readParquet } from '../../../../src/codec/parquet/read-parquet.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';

const golden = (name: string): Promise<Uint8Array> => readFile(new URL(`golden/${name}`, import.meta.url));
const micros = (text: string): bigint => BigInt(Date.parse(text)) * 1000n;

describe('files of other writers', () => {
  // INT96 is Spark's default. The library decodes it to nanoseconds, which silently wrap outside of 1677 to 2262.
  it.each(['int96.parquet', 'int96-with-arrow-schema.parquet'])('INT96 timestamps are exact from year 1 to 9999: %s', async (name) => {
    const rows = [...rowsOf((await readParquet(await golden(name))).batches)];
    expect(rows.map((row) => row['t'])).toEqual([
      micros('0001-01-01T00:00:00Z'),
      micros('1500-03-04T05:06:07Z') + 123_456n,
      -1n,
      micros('2024-01-01T10:00:00Z') + 1n,
      micros('9999-12-31T23:59:59Z') + 999_999n,
      null,
    ]);
    expect(rows[0]).toMatchObject({ s: { t: micros('1500-01-01T00:00:00Z') }, l: [micros('1500-01-01T00:00:00Z')] });
  });

  it('INT96 without an embedded schema is an instant', async () => {
    const { schema } = await readParquet(await golden('int96.parquet'), { columns: ['t'] });
    expect(schema.fields.map((field) => field.type.kind)).toEqual(['timestamp']);
  });

  it('dictionaries, large and viewed strings, large lists, unsigned integers and other timestamp units become plain columns', async () => {
    const rows = [...rowsOf((await readParquet(await golden('foreign-layouts.parquet'))).batches)];
    expect(rows.map((row) => row['d'])).toEqual(['a', 'b', null, 'a']);
    expect(rows.map((row) => row['ls'])).toEqual(['x', 'yy', null, 'z'.repeat(20)]);
    expect(rows.map((row) => row['sv'])).toEqual(['x', 'yy', null, 'z'.repeat(20)]);
    expect(rows.map((row) => row['ms'])).toEqual([0n, -1000n, null, 5000n]);
    expect(rows.map((row) => row['ns'])).toEqual([0n, -1n, null, 5n]);
    expect(rows.map((row) => row['ll'])).toEqual([[1n], [], null, [2n]]);
    expect(rows.map((row) => row['u8'])).toEqual([1, 255, null, 3]);
    expect(rows.map((row) => row['dec32'])).toEqual(['1.00', '2.00', null, '-3.00']);
  });

  it('a damaged footer is called corrupt, wherever it is cut or changed', async () => {
    const file = await golden('int96.parquet');
    for (let at = file.length - 9; at > file.length - 400; at -= 7) {
      const damaged = Uint8Array.from(file);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      const outcome = await readParquet(damaged).then(
        () => 'read',
        (error: unknown) => error,
      );
      if (outcome !== 'read') expect(outcome).toMatchObject({ name: 'ServiceError' });
    }
  });
});
