import { expect, it } from 'vitest';
import { isServiceError } from '../../../../src/base/errors.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { buildBatch } from '../../../../src/codec/build-columns.ts';
import { readParquet } from '../../../../src/codec/parquet/read-parquet.ts';
import { writeParquet } from '../../../../src/codec/parquet/write-parquet.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import type { StructType } from '../../../../src/schema/types.ts';

// Story: a checkpoint with two flipped bits made the library trap, and from then on the process read no checkpoint of any table and wrote
// none: reading shared the instance that writing had to give up.

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'name', type: { kind: 'string' }, nullable: true },
    { name: 'tags', type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'string' }, valueNullable: true }, nullable: true },
  ],
};
const rows = Array.from({ length: 200 }, (_, index) => ({
  id: BigInt(index),
  name: index % 7 === 0 ? null : `name ${index % 11}`,
  tags: new Map([['k', `v${index % 3}`]]),
}));

it('damaged files are refused or read as something, and sound ones are read and written after any of them', async () => {
  const batch = buildBatch(schema, rows);
  const sound = await writeParquet([batch], { compression: 'snappy' });
  const random = new SeededRandom(11);
  const codes = new Set<string>();
  for (let round = 0; round < 300; round += 1) {
    const bytes = Uint8Array.from(sound);
    for (let flips = 0; flips < 2; flips += 1) bytes[Math.floor(random.next() * bytes.length)] = Math.floor(random.next() * 256);
    try {
      await readParquet(bytes);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      codes.add(error.message.startsWith('the parquet library gave up') ? 'trapped' : error.code);
    }
  }
  expect(codes).toContain('PARQUET_CORRUPT');
  const again = await readParquet(await writeParquet([batch], { compression: 'snappy' }));
  expect([...rowsOf(again.batches)]).toEqual([...rowsOf([batch])]);
  expect([...codes].sort()).toEqual(['PARQUET_CORRUPT', 'trapped']);
});
