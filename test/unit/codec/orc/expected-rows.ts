import type { PlainRow } from '../../../../src/codec/rows.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';

/** The table that the golden files were written from, with the ids that Iceberg gave. */
export const goldenSchema: StructType = {
  kind: 'struct',
  fields: [
    field(1, 'id', { kind: 'long' }),
    field(2, 'b', { kind: 'boolean' }),
    field(3, 'i', { kind: 'integer' }),
    field(4, 'patched', { kind: 'long' }),
    field(5, 'down', { kind: 'long' }),
    field(6, 'fl', { kind: 'float' }),
    field(7, 'd', { kind: 'double' }),
    field(8, 's', { kind: 'string' }),
    field(9, 'dict', { kind: 'string' }),
    field(10, 'bin', { kind: 'binary' }),
    field(11, 'dt', { kind: 'date' }),
    field(12, 'ts', { kind: 'timestamp' }),
    field(13, 'tn', { kind: 'timestamp_ntz' }),
    field(14, 'dec', { kind: 'decimal', precision: 20, scale: 4 }),
    field(15, 'big', { kind: 'decimal', precision: 38, scale: 10 }),
    field(16, 'l', { kind: 'list', element: { kind: 'integer' }, elementNullable: true, elementId: 19 }),
    field(17, 'm', { kind: 'map', key: { kind: 'string' }, value: { kind: 'double' }, valueNullable: true, keyId: 20, valueId: 21 }),
    field(18, 'st', { kind: 'struct', fields: [field(22, 'a', { kind: 'integer' }), field(23, 'c', { kind: 'string' })] }),
  ],
};

function field(id: number, name: string, type: DataType): Field {
  return { id, name, type, nullable: true };
}

const encoder = new TextEncoder();

/** Rows 0 to `count - 1` as they must be read; every seventh is null but for two columns. */
export function expectedRows(count: number): readonly PlainRow[] {
  return Array.from({ length: count }, (_, id) => expectedRow(id));
}

function expectedRow(id: number): PlainRow {
  const base = { id: BigInt(id), down: BigInt(-3 * id + ((id * 7919) % 3)) };
  if (id % 7 === 3) return { ...base, ...nulls };
  const micros = BigInt(id - 1000) * 2_592_000_000_000n + BigInt(id) * 1_234_567n;
  return {
    ...base,
    b: id % 3 === 0,
    i: id * 1000 - 5,
    patched: id % 97 === 5 ? BigInt(id) * 1_000_003n * 1009n : BigInt((id * 7919) % 100),
    fl: id / 2,
    d: id / 8,
    s: `row ${id} ü`,
    dict: ['red', 'green', 'blue'][id % 3] ?? '',
    bin: encoder.encode(`b${id}`),
    dt: (id - 1000) * 300,
    ts: micros,
    tn: micros,
    dec: id === 100 ? '-0.5000' : `${Math.trunc(id - 100.5)}.5000`,
    big: `-${BigInt(`${id}1234567890123456789`)}.5000000000`,
    l: [id, null, id + 1].slice(0, id % 4),
    m: new Map<string, number | null>([
      [`k${id % 5}`, id / 4],
      ['n', null],
    ]),
    st: { a: id % 2 === 0 ? null : id, c: `c${id % 100}` },
  };
}

const nulls: PlainRow = {
  b: null,
  i: null,
  patched: null,
  fl: null,
  d: null,
  s: null,
  dict: null,
  bin: null,
  dt: null,
  ts: null,
  tn: null,
  dec: null,
  big: null,
  l: null,
  m: null,
  st: null,
};
