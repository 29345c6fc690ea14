import { describe, expect, it } from 'vitest';
import { canWiden } from '../../../../src/delta/definition/change-type.ts';
import type { DataType } from '../../../../src/schema/types.ts';

const decimal = (precision: number, scale: number): DataType => ({ kind: 'decimal', precision, scale });
const plain: readonly DataType[] = (
  ['boolean', 'byte', 'short', 'integer', 'long', 'float', 'double', 'string', 'binary', 'date', 'timestamp', 'timestamp_ntz'] as const
).map((kind) => ({ kind }));

describe('canWiden', () => {
  it('allows exactly the changes of the protocol between plain types', () => {
    const allowed = plain.flatMap((from) => plain.filter((to) => canWiden(from, to)).map((to) => `${from.kind} > ${to.kind}`));
    expect(allowed).toEqual([
      'byte > short',
      'byte > integer',
      'byte > long',
      'byte > double',
      'short > integer',
      'short > long',
      'short > double',
      'integer > long',
      'integer > double',
      'float > double',
      'date > timestamp_ntz',
    ]);
  });

  it('lets decimals grow on both sides of the point, and takes integers whole', () => {
    expect(canWiden(decimal(6, 2), decimal(12, 4))).toBe(true);
    expect(canWiden(decimal(6, 2), decimal(6, 2))).toBe(false);
    expect(canWiden(decimal(6, 2), decimal(7, 4))).toBe(false);
    expect(canWiden(decimal(6, 2), decimal(8, 1))).toBe(false);
    expect(canWiden({ kind: 'short' }, decimal(10, 0))).toBe(true);
    expect(canWiden({ kind: 'integer' }, decimal(11, 2))).toBe(false);
    expect(canWiden({ kind: 'long' }, decimal(20, 0))).toBe(true);
    expect(canWiden({ kind: 'long' }, decimal(19, 0))).toBe(false);
    expect(canWiden({ kind: 'double' }, decimal(38, 0))).toBe(false);
  });
});
