import { describe, expect, it } from 'vitest';
import { buildBatch, type InputRow } from '../../../../src/codec/build-columns.ts';
import { type OrcFile, type ReadOrcOptions, readOrcFile, readOrcRows } from '../../../../src/codec/orc/read/read-orc.ts';
import { writeOrcFile } from '../../../../src/codec/orc/write/write-orc.ts';
import { type PlainRow, rowsOf } from '../../../../src/codec/rows.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';

function struct(...fields: Field[]): StructType {
  return { kind: 'struct', fields };
}

function field(name: string, type: DataType, id?: number): Field {
  return { name, type, nullable: true, id };
}

async function written(schema: StructType, rows: readonly InputRow[]): Promise<OrcFile> {
  const { bytes } = await writeOrcFile([buildBatch(schema, rows)], { schema });
  return readOrcFile(bytes, { name: 'f.orc' });
}

function read(file: OrcFile, schema: StructType, options: Partial<ReadOrcOptions> = {}): PlainRow[] {
  return [...rowsOf(readOrcRows(file, { schema, ...options }))];
}

const nested = struct(
  field('a', { kind: 'integer' }, 1),
  field('s', struct(field('x', { kind: 'string' }, 3), field('y', { kind: 'long' }, 4)), 2),
  field('l', { kind: 'list', element: struct(field('e', { kind: 'integer' }, 7)), elementNullable: true, elementId: 6 }, 5),
);
const nestedRows: readonly InputRow[] = [
  { a: 1, s: { x: 'one', y: 10 }, l: [{ e: 5 }, null] },
  { a: null, s: null, l: null },
  { a: 3, s: { x: null, y: 30 }, l: [] },
];

describe('columns of an ORC file', () => {
  it('are found by id under other names and in another order, also within structs and lists', async () => {
    const file = await written(nested, nestedRows);
    const schema = struct(
      field('list', { kind: 'list', element: struct(field('renamed', { kind: 'integer' }, 7)), elementNullable: true, elementId: 6 }, 5),
      field('struct', struct(field('y2', { kind: 'long' }, 4), field('x2', { kind: 'string' }, 3)), 2),
    );
    expect(read(file, schema)).toEqual([
      { list: [{ renamed: 5 }, null], struct: { y2: 10n, x2: 'one' } },
      { list: null, struct: null },
      { list: [], struct: { y2: 30n, x2: null } },
    ]);
  });

  it('that are absent are null and told by id', async () => {
    const file = await written(nested, nestedRows);
    const absent: number[] = [];
    const schema = struct(
      field('a', { kind: 'string' }, 99),
      field('s', struct(field('z', { kind: 'long' }, 98), field('x', { kind: 'string' }, 3)), 2),
      field('t', struct(field('u', { kind: 'long' }, 97)), 96),
    );
    expect(read(file, schema, { absent: (id) => absent.push(id) })).toEqual([
      { a: null, s: { z: null, x: 'one' }, t: null },
      { a: null, s: null, t: null },
      { a: null, s: { z: null, x: null }, t: null },
    ]);
    expect(absent).toEqual([99, 98, 96]);
  });

  it('may all be absent: the rows are still counted', async () => {
    const file = await written(nested, nestedRows);
    expect(read(file, struct(field('n', { kind: 'long' }, 50)))).toEqual([{ n: null }, { n: null }, { n: null }]);
    expect(read(file, struct())).toEqual([{}, {}, {}]);
    const empty = struct(
      field('l', { kind: 'list', element: struct(field('n', { kind: 'long' }, 50)), elementNullable: true, elementId: 6 }, 5),
    );
    expect(read(file, empty)).toEqual([{ l: [{ n: null }, null] }, { l: null }, { l: [] }]);
  });

  it('of a file without ids are found by the ids that names map to', async () => {
    const bare = struct(
      field('old', { kind: 'integer' }),
      field('m', { kind: 'map', key: { kind: 'string' }, value: struct(field('v', { kind: 'long' })), valueNullable: true }),
    );
    const file = await written(bare, [{ old: 4, m: new Map([['k', { v: 8 }]]) }]);
    const ids: Readonly<Record<string, number>> = { old: 1, m: 2, 'm.value.v': 5 };
    const schema = struct(
      field('fresh', { kind: 'integer' }, 1),
      field(
        'map',
        { kind: 'map', key: { kind: 'string' }, value: struct(field('w', { kind: 'long' }, 5)), valueNullable: true, keyId: 3, valueId: 4 },
        2,
      ),
    );
    expect(read(file, schema, { nameToId: (path) => ids[path.join('.')] })).toEqual([{ fresh: 4, map: new Map([['k', { w: 8n }]]) }]);
    expect(read(file, schema)).toEqual([{ fresh: null, map: null }]);
  });

  it('become wider types', async () => {
    const narrow = struct(
      field('byte', { kind: 'byte' }, 1),
      field('short', { kind: 'short' }, 2),
      field('int', { kind: 'integer' }, 3),
      field('float', { kind: 'float' }, 4),
      field('dec', { kind: 'decimal', precision: 5, scale: 2 }, 5),
      field('date', { kind: 'date' }, 6),
    );
    const rows = [
      { byte: -3, short: -300, int: -70_000, float: 1.5, dec: '-1.25', date: -1 },
      { byte: null, short: null, int: null, float: null, dec: null, date: null },
      { byte: 127, short: 32_767, int: 2 ** 31 - 1, float: -0.25, dec: '999.99', date: 20_000 },
    ];
    const file = await written(narrow, rows);
    const wide = struct(
      field('byte', { kind: 'integer' }, 1),
      field('short', { kind: 'long' }, 2),
      field('int', { kind: 'long' }, 3),
      field('float', { kind: 'double' }, 4),
      field('dec', { kind: 'decimal', precision: 38, scale: 3 }, 5),
      field('date', { kind: 'timestamp_ntz' }, 6),
    );
    expect(read(file, wide)).toEqual([
      { byte: -3, short: -300n, int: -70_000n, float: 1.5, dec: '-1.250', date: -86_400_000_000n },
      { byte: null, short: null, int: null, float: null, dec: null, date: null },
      { byte: 127, short: 32_767n, int: 2n ** 31n - 1n, float: -0.25, dec: '999.990', date: 1_728_000_000_000_000n },
    ]);
  });

  it.each<[DataType, DataType]>([
    [{ kind: 'long' }, { kind: 'integer' }],
    [{ kind: 'double' }, { kind: 'float' }],
    [{ kind: 'timestamp' }, { kind: 'timestamp_ntz' }],
    [{ kind: 'timestamp_ntz' }, { kind: 'timestamp' }],
    [{ kind: 'string' }, { kind: 'binary' }],
    [{ kind: 'boolean' }, { kind: 'integer' }],
    [{ kind: 'list', element: { kind: 'long' }, elementNullable: true }, { kind: 'long' }],
  ])('are refused by name when they cannot become the type: %o as %o', async (stored, wanted) => {
    const file = await written(struct(field('c', stored, 1)), [{ c: null }]);
    expect(() => read(file, struct(field('c', wanted, 1)))).toThrow(
      expect.objectContaining({
        code: 'ORC_TYPE_MISMATCH',
        message: expect.stringMatching(/^orc file "f.orc", stripe 0, column 1 "c": a column of type /) as unknown,
      }),
    );
  });

  it('are refused when a decimal has more digits than its field', async () => {
    const file = await written(struct(field('c', { kind: 'decimal', precision: 10, scale: 2 }, 1)), [{ c: '12345678.25' }]);
    const decimal = (precision: number, scale: number): StructType => struct(field('c', { kind: 'decimal', precision, scale }, 1));
    expect(() => read(file, decimal(9, 2))).toThrow('a decimal has more than 9 digits');
    expect(() => read(file, decimal(10, 1))).toThrow('a decimal has more than 1 digits after the point');
  });
});
