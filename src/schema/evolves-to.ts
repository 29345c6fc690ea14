import type { DataType } from './types.ts';

const integers: readonly DataType['kind'][] = ['byte', 'short', 'integer', 'long'];

/**
 * Whether data may widen a column: to a type that holds all values of its own and is of one family with it, so that a stray value does not change
 * what a column is.
 */
export function evolvesTo(column: DataType, data: DataType): boolean {
  if (column.kind === 'date') return data.kind === 'timestamp_ntz';
  if (column.kind === 'float') return data.kind === 'double';
  if (column.kind === 'decimal' && data.kind === 'decimal') {
    const [scales, wholes] = [data.scale - column.scale, data.precision - data.scale - (column.precision - column.scale)];
    return scales >= 0 && wholes >= 0 && scales + wholes > 0;
  }
  const from = integers.indexOf(column.kind);
  return from >= 0 && integers.indexOf(data.kind) > from;
}
