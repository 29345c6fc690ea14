import { present } from '../../base/assert.ts';
import type { Column } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { IndexedFile, TableKeyIndex } from '../../table/key-index.ts';
import type { KeyedRowTable } from './keyed-row-table.ts';

/** A lookup among files of a version, of which an index covers some. */
export interface IndexSearch<File> {
  readonly table: KeyedRowTable<File>;
  readonly files: readonly File[];
  /** `undefined`: how many rows it has is not known, and it is read. */
  readonly known: readonly (IndexedFile | undefined)[];
  readonly index: TableKeyIndex;
  readonly rowsAtOnce: number;
  readonly keyFields: readonly Field[];
  readonly orderFields: readonly Field[];
}

/** Low and high words of 64-bit numbers in turn. */
export function wordsOf(column: Column): Uint32Array {
  const values = column.layout === 'fixed' && column.nullCount === 0 ? column.values : undefined;
  const numbers = present(values instanceof BigInt64Array ? values : undefined, 'the index is of 64-bit numbers without nulls');
  return new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2);
}

/** Puts numbers, given as `wordsOf` gives them, into rows of `width` words. */
export function putWords(
  from: Uint32Array | undefined,
  into: Uint32Array,
  at: { readonly width: number; readonly low: number; readonly high?: number },
): void {
  const { width, low, high } = at;
  for (let number = 0, row = 0; row < into.length; number += 2, row += width) {
    into[row + low] = from?.[number] ?? 0;
    if (high !== undefined) into[row + high] = from?.[number + 1] ?? 0;
  }
}

export function longs(names: readonly string[]): StructType {
  return { kind: 'struct', fields: names.map((name) => ({ name, type: { kind: 'long' }, nullable: false })) };
}
