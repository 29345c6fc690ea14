import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/base/bigint-json.ts';
import { describeError, isServiceError } from '../../../../src/base/errors.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { type AvroRecord } from '../../../../src/codec/avro/avro-type.ts';
import { readContainer } from '../../../../src/codec/avro/read-container.ts';
import { AvroContainerWriter } from '../../../../src/codec/avro/write-container.ts';
import { fieldNamesById, readAvroFile } from '../../../support/avro-records.ts';
import { avroVector, avroVectors, plain } from './vectors.ts';

const readable = [...avroVectors().values()].filter((vector) => vector.rows !== undefined);

function recordOf(type: AvroRecord, field: string): AvroRecord {
  const found = type.fields.find((candidate) => candidate.name === field)?.type;
  if (found?.kind !== 'record') throw new TypeError(field);
  return found;
}

/** How reading a file ends: its number of rows, or the code of a typed error. */
function outcome(bytes: Uint8Array, name = 'file.avro', maxBlockBytes?: number): number | string {
  try {
    return [...readAvroFile(bytes, { name, maxBlockBytes }).records()].length;
  } catch (error) {
    return isServiceError(error) ? error.code : `not typed: ${describeError(error)}`;
  }
}

/** A file with a given schema and one block. */
async function fileOf(schema: JsonValue, block: Uint8Array): Promise<Uint8Array> {
  return await fileOfText(JSON.stringify(schema), block);
}

async function fileOfText(schema: string, block: Uint8Array): Promise<Uint8Array> {
  const writer = new AvroContainerWriter({ schema, codec: 'null', sync: new Uint8Array(16).fill(9) });
  writer.sink.fixed(block);
  writer.endRow();
  return await writer.finish();
}

const one = { type: 'record', name: 'r', fields: [{ name: 'a', type: 'long', 'field-id': 1 }] };

describe('files of other writers', () => {
  it.each(readable.map((vector) => [vector.name, vector] as const))('%s gives the rows that fastavro reads', (name, vector) => {
    const file = readAvroFile(vector.bytes, { name });
    expect(file.codec).toBe(vector.codec);
    // In data files one map is stored as a map and one as pairs.
    const rows = [...file.records()].map((row) => plain(row));
    expect(JSON.stringify(rows)).toBe(JSON.stringify(mapsAsPairs(vector.rows ?? null, name)));
  });

  it('a manifest tells its field ids, at every level, and its metadata', () => {
    const file = readAvroFile(avroVector('manifest-null').bytes, { name: 'm0.avro' });
    expect(fieldNamesById(file.type).get(2)).toBe('data_file');
    const dataFile = recordOf(file.type, 'data_file');
    expect(fieldNamesById(dataFile).get(100)).toBe('file_path');
    expect(fieldNamesById(recordOf(dataFile, 'partition'))).toEqual(new Map([[1000, 'partition_col']]));
    expect(Buffer.from(file.metadata.get('partition-spec-id') ?? []).toString()).toBe('0');
  });

  it('snapshot ids past 2^53 keep every digit', () => {
    const [entry] = readAvroFile(avroVector('manifest-null').bytes, { name: 'm0.avro' }).records();
    expect(entry?.['snapshot_id']).toBe(5142311260901683077n);
  });

  it('fields left out by id are missing and the rest is the same', () => {
    const file = readAvroFile(avroVector('manifest-deflate').bytes, { name: 'm0.avro' });
    const all = [...file.records()].map((row) => row['data_file']);
    const some = [...file.records({ omitFieldIds: new Set([108, 125, 128, 132]) })].map((row) => row['data_file']);
    for (const [index, entry] of all.entries()) {
      const { column_sizes, lower_bounds, upper_bounds, split_offsets, ...rest } = entry as Record<string, unknown>;
      expect([column_sizes, lower_bounds, upper_bounds, split_offsets]).not.toContain(undefined);
      expect(some[index]).toEqual(rest);
    }
  });

  it('blocks of an array may tell their bytes, and are then passed over by them', async () => {
    const array = { type: 'array', items: 'long' };
    const fields = [
      { name: 'a', type: array, 'field-id': 1 },
      { name: 'b', type: 'int', 'field-id': 2 },
    ];
    // Two items in a block of three bytes, one in a block without its bytes, and the end.
    const bytes = await fileOf({ type: 'record', name: 'r', fields }, Buffer.of(3, 6, 0x80, 1, 2, 2, 10, 0, 14));
    const file = readAvroFile(bytes, { name: 'f' });
    expect([...file.records()]).toEqual([{ a: [64n, 1n, 5n], b: 7 }]);
    expect([...file.records({ omitFieldIds: new Set([1]) })]).toEqual([{ b: 7 }]);
  });

  it('an encrypted list is refused by that name', () => {
    expect(() => readAvroFile(avroVector('list-encrypted').bytes, { name: 'snap.avro' })).toThrow(
      expect.objectContaining({ code: 'AVRO_UNSUPPORTED', message: 'snap.avro: is encrypted' }),
    );
  });
});

function mapsAsPairs(rows: JsonValue, name: string): JsonValue {
  if (!name.startsWith('data-') || !Array.isArray(rows)) return rows;
  return (rows as readonly Record<string, JsonValue>[]).map((row) => {
    const map = row['m'];
    if (map === null || map === undefined || typeof map !== 'object') return row;
    return {
      ...row,
      m: Object.entries(map).map(([key, value]) => ({
        key,
        value: typeof value === 'number' && Number.isInteger(value) ? String(value) : value,
      })),
    };
  });
}

describe('broken files', () => {
  it.each(['manifest-null', 'manifest-deflate', 'list-deflate'])('%s cut anywhere is refused, or ends where a block ends', (name) => {
    const { bytes } = avroVector(name);
    const ends: number[] = [];
    for (let length = 0; length < bytes.length; length++) {
      const result = outcome(bytes.subarray(0, length));
      if (typeof result === 'number') ends.push(length);
      else expect(result, `cut at ${length}`).toBe('AVRO_FILE_CORRUPT');
    }
    // What ends behind the header or a block looks like a whole file with fewer rows.
    const blocks = [...readContainer(bytes, name).blocks()].length;
    expect(ends).toHaveLength(blocks);
  });

  it('flipped bits give a typed error or rows, never anything else', () => {
    const seed = 20_251_121;
    const random = new SeededRandom(seed);
    for (const name of ['manifest-null', 'manifest-deflate', 'data-0']) {
      const { bytes } = avroVector(name);
      for (let round = 0; round < 500; round++) {
        const broken = Uint8Array.from(bytes);
        const at = Math.floor(random.next() * bytes.length);
        broken[at] = (broken[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
        const result = outcome(broken, name, 1_000_000);
        if (typeof result === 'string') expect(result, `seed ${seed} ${name} round ${round}`).toMatch(/^AVRO_(FILE_CORRUPT|UNSUPPORTED)$/);
      }
    }
  });

  it('a changed sync marker, another codec and text are refused', async () => {
    const bytes = Buffer.from(await fileOf(one, Buffer.of(2)));
    expect(outcome(bytes)).toBe(1);
    const changed = Buffer.from(bytes);
    changed[bytes.length - 1] = 1;
    expect(outcome(changed)).toBe('AVRO_FILE_CORRUPT');
    const coded = Buffer.from(bytes.toString('latin1').replace('\x08null', '\x08lzma'), 'latin1');
    expect(outcome(coded)).toBe('AVRO_UNSUPPORTED');
    expect(outcome(Buffer.from('{"format-version": 2}'))).toBe('AVRO_FILE_CORRUPT');
  });

  it('the error names file, block and byte', async () => {
    const bytes = await fileOf(one, Buffer.of(0x80, 0x80));
    expect(() => [...readAvroFile(bytes, { name: 'm7.avro' }).records()]).toThrow(
      /^m7\.avro: avro block at byte \d+: ends inside of a value at byte 0$/,
    );
  });

  it('bytes behind the last row of a block are refused', async () => {
    expect(outcome(await fileOf(one, Buffer.of(2, 2)))).toBe('AVRO_FILE_CORRUPT');
  });

  it('a long of more than 64 bits, an int of more than 32 and a string that is no UTF-8 are refused', async () => {
    const eleven = Buffer.of(...Array.from({ length: 10 }, () => 0xff), 1);
    expect(outcome(await fileOf(one, eleven))).toBe('AVRO_FILE_CORRUPT');
    const int = { type: 'record', name: 'r', fields: [{ name: 'a', type: 'int' }] };
    expect(outcome(await fileOf(int, Buffer.of(0x80, 0x80, 0x80, 0x80, 0x20)))).toBe('AVRO_FILE_CORRUPT');
    const text = { type: 'record', name: 'r', fields: [{ name: 'a', type: 'string' }] };
    expect(outcome(await fileOf(text, Buffer.of(4, 0xc3, 0x28)))).toBe('AVRO_FILE_CORRUPT');
    expect(outcome(await fileOf(text, Buffer.of(6, 0xef, 0xbf, 0xbd)))).toBe(1);
  });
});

describe('hostile files', () => {
  const array = (items: JsonValue): JsonValue => ({ type: 'record', name: 'r', fields: [{ name: 'a', type: { type: 'array', items } }] });
  const huge = Buffer.of(0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f, 0);

  it('a count of items that cannot follow is refused at once', async () => {
    expect(outcome(await fileOf(array('long'), huge))).toBe('AVRO_FILE_CORRUPT');
  });

  it('endless values without bytes are refused', async () => {
    expect(outcome(await fileOf(array('null'), huge))).toBe('AVRO_FILE_CORRUPT');
    const nested = array({ type: 'array', items: 'null' });
    const inner = Buffer.of(0x80, 0x80, 0x20, 0);
    expect(
      outcome(await fileOf(nested, Buffer.concat([Buffer.of(0x80, 1), ...Array.from({ length: 64 }, () => inner), Buffer.of(0)]))),
    ).toBe('AVRO_FILE_CORRUPT');
  });

  it('values without bytes are counted for all blocks of a file, and each by itself', async () => {
    const blocks = async (schema: JsonValue, block: Uint8Array, count: number): Promise<Uint8Array> => {
      const writer = new AvroContainerWriter({ schema: JSON.stringify(schema), codec: 'null', sync: new Uint8Array(16), blockBytes: 1 });
      for (let index = 0; index < count; index += 1) {
        writer.sink.fixed(block);
        writer.endRow();
      }
      return await writer.finish();
    };
    // A row is a list of 2^20 nulls in four bytes.
    expect(outcome(await blocks(array('null'), Buffer.of(0x80, 0x80, 0x80, 1, 0), 1000))).toBe('AVRO_FILE_CORRUPT');
    const wide = {
      type: 'record',
      name: 'r',
      fields: [{ name: 'id', type: 'int' }, ...range(9999).map((at) => ({ name: `f${at}`, type: 'null' }))],
    };
    expect(outcome(await blocks(wide, Buffer.of(2), 10_000))).toBe('AVRO_FILE_CORRUPT');
    expect(outcome(await blocks(wide, Buffer.of(2), 10))).toBe(10);
  });

  it('a block that unpacks to more than allowed is refused', () => {
    expect(outcome(avroVector('manifest-deflate').bytes, 'm', 100)).toBe('AVRO_FILE_CORRUPT');
  });

  it('types that contain themselves, grow without bound or nest without end are refused', async () => {
    const self = { type: 'record', name: 'r', fields: [{ name: 'next', type: ['null', 'r'] }] };
    expect(outcome(await fileOf(self, Buffer.of(0)))).toBe('AVRO_UNSUPPORTED');
    const level = (depth: number): JsonValue =>
      depth === 0
        ? 'null'
        : {
            type: 'record',
            name: `r${depth}`,
            fields: [
              { name: 'f0', type: level(depth - 1) },
              ...range(9).map((at) => ({ name: `f${at + 1}`, type: depth === 1 ? 'null' : `r${depth - 1}` })),
            ],
          };
    expect(outcome(await fileOf(level(3), Buffer.alloc(0)))).toBe(1);
    expect(outcome(await fileOf(level(9), Buffer.alloc(0)))).toBe('AVRO_FILE_CORRUPT');
    for (const depth of [100, 100_000]) {
      const deep = `${'{"type":"array","items":'.repeat(depth)}"int"${'}'.repeat(depth)}`;
      expect(outcome(await fileOfText(JSON.stringify(array('X')).replace('"X"', deep), Buffer.of(0)))).toBe('AVRO_FILE_CORRUPT');
    }
  });

  it('a field called as the prototype is a member like others', async () => {
    const schema = { type: 'record', name: 'r', fields: [{ name: '__proto__', type: 'long' }] };
    const [row] = readAvroFile(await fileOf(schema, Buffer.of(2)), { name: 'f' }).records();
    expect(Object.getOwnPropertyDescriptor(row, '__proto__')?.value).toBe(1n);
  });

  it.each([
    ['a name that is not defined', { type: 'record', name: 'r', fields: [{ name: 'a', type: 'other' }] }],
    ['two types of one name', { type: 'record', name: 'r', fields: [{ name: 'a', type: { type: 'fixed', name: 'r', size: 1 } }] }],
    ['a fixed of a negative size', { type: 'record', name: 'r', fields: [{ name: 'a', type: { type: 'fixed', name: 'f', size: -1 } }] }],
    ['a field without a type', { type: 'record', name: 'r', fields: [{ name: 'a' }] }],
    ['an empty union', { type: 'record', name: 'r', fields: [{ name: 'a', type: [] }] }],
    ['a number', 7],
  ])('%s is no schema', async (_, schema: JsonValue) => {
    expect(outcome(await fileOf(schema, Buffer.of(0)))).toBe('AVRO_FILE_CORRUPT');
  });
});

function range(length: number): readonly number[] {
  return Array.from({ length }, (_, index) => index);
}
