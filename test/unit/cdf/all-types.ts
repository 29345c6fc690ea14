import type { InputRow } from '../../../src/codec/build-columns.ts';
import type { StructType } from '../../../src/schema/types.ts';

/** A table with a column of each type. */
export const allTypes: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'flag', type: { kind: 'boolean' }, nullable: true },
    { name: 'tiny', type: { kind: 'byte' }, nullable: true },
    { name: 'small', type: { kind: 'short' }, nullable: true },
    { name: 'whole', type: { kind: 'integer' }, nullable: true },
    { name: 'single', type: { kind: 'float' }, nullable: true },
    { name: 'real', type: { kind: 'double' }, nullable: true },
    { name: 'price', type: { kind: 'decimal', precision: 12, scale: 2 }, nullable: true },
    { name: 'data', type: { kind: 'binary' }, nullable: true },
    { name: 'day', type: { kind: 'date' }, nullable: true },
    { name: 'at', type: { kind: 'timestamp' }, nullable: true },
    { name: 'local', type: { kind: 'timestamp_ntz' }, nullable: true },
    { name: 'place', type: { kind: 'struct', fields: [{ name: 'ci"ty', type: { kind: 'string' }, nullable: true }] }, nullable: true },
    { name: 'tags', type: { kind: 'list', element: { kind: 'string' }, elementNullable: true }, nullable: true },
    { name: 'counts', type: { kind: 'map', key: { kind: 'integer' }, value: { kind: 'long' }, valueNullable: true }, nullable: true },
  ],
};
export const fullRow: InputRow = {
  id: 7n,
  flag: true,
  tiny: -1,
  small: 2,
  whole: 3,
  single: 0.5,
  real: 1.25,
  price: '9.99',
  data: Uint8Array.of(1, 2),
  day: 0,
  at: 0n,
  local: 0n,
  place: { 'ci"ty': 'x' },
  tags: ['a', null],
  counts: new Map([[1, 2n]]),
};
