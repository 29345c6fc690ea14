import { assert, assertNever } from '../../../base/assert.ts';
import type { Column } from '../../../schema/columns.ts';
import type { DataType } from '../../../schema/types.ts';
import { type EncodingKind, encodingKind, streamKind } from '../proto/numbers.ts';
import type { LongWords } from '../rle/long-words.ts';
import { encodeBytesColumn } from './encode-bytes.ts';
import { encodeBoolean, encodeDecimal, encodeFixed } from './encode-fixed.ts';
import { bitStream, type EncodedStream, longStream } from './encoded-stream.ts';
import type { EncodedValues } from './encoded-values.ts';
import type { FileColumn } from './file-columns.ts';
import { type Picked, pickBeside, pickElements, positionOf, sizeAt, withoutNulls } from './picked.ts';
import type { ColumnStatistics } from './statistics.ts';

/** A column of a stripe, before it is packed. */
export interface EncodedColumn {
  readonly column: FileColumn;
  readonly encoding: EncodingKind;
  /** Entries of the dictionary, 0 without one. */
  readonly dictionarySize: number;
  readonly streams: readonly EncodedStream[];
  /** One a group of rows. */
  readonly statistics: readonly ColumnStatistics[];
}

/** Encodes a column, and then what is within it, in the order of their numbers; one each time the caller asks. */
export function* encodeColumn(column: FileColumn, picked: Picked): Generator<EncodedColumn, void, undefined> {
  requireType(column, picked.column.type);
  const { present, stored } = withoutNulls(picked);
  const values = encodeValues(column, stored);
  const presence = present === undefined ? [] : [bitStream(streamKind.present, present, picked.groups)];
  yield {
    column,
    encoding: values.encoding,
    dictionarySize: values.dictionarySize ?? 0,
    streams: [...presence, ...values.streams],
    statistics: groupStatistics(picked, stored, values),
  };
  for (const [index, child] of childrenOf(stored).entries()) {
    const part = column.children[index];
    if (part !== undefined) yield* encodeColumn(part, child);
  }
}

/** Values are encoded as the batch has them, so the schema of the file must say the same. */
function requireType({ column, type }: FileColumn, given: DataType): void {
  assert(type.kind === given.kind, `column ${column} is of type ${given.kind} in a batch and of ${type.kind} in the file`);
  if (type.kind === 'decimal' && given.kind === 'decimal') {
    assert(type.scale === given.scale, `column ${column} has scale ${given.scale} in a batch and ${type.scale} in the file`);
  }
}

function encodeValues(column: FileColumn, stored: Picked): EncodedValues {
  const values = stored.column;
  switch (values.layout) {
    case 'fixed':
      return encodeFixed({ ...stored, column: values });
    case 'boolean':
      return encodeBoolean({ ...stored, column: values });
    case 'decimal':
      return encodeDecimal({ ...stored, column: values });
    case 'bytes':
      return encodeBytesColumn({ ...stored, column: values }, column);
    case 'struct':
      return { encoding: encodingKind.direct, streams: [] };
    case 'list':
    case 'map':
      return {
        encoding: encodingKind.directV2,
        streams: [longStream(streamKind.length, lengthsOf(stored, values.offsets), stored.groups, false)],
      };
    default:
      return assertNever(values);
  }
}

function childrenOf(stored: Picked): readonly Picked[] {
  const values: Column = stored.column;
  switch (values.layout) {
    case 'struct':
      return values.children.map((child) => pickBeside(stored, child));
    case 'list':
      return [pickElements(stored, values.offsets, values.element)];
    case 'map':
      return [pickElements(stored, values.offsets, values.keys), pickElements(stored, values.offsets, values.values)];
    default:
      return [];
  }
}

function lengthsOf(picked: Picked, offsets: Int32Array): LongWords {
  const words: LongWords = new Int32Array(2 * picked.count);
  for (let index = 0; index < picked.count; index++) words[2 * index] = sizeAt(offsets, positionOf(picked, index));
  return words;
}

function groupStatistics(picked: Picked, stored: Picked, values: EncodedValues): readonly ColumnStatistics[] {
  return Array.from({ length: picked.groups.length - 1 }, (_, group) => {
    const from = stored.groups[group] ?? 0;
    const until = stored.groups[group + 1] ?? 0;
    const all = (picked.groups[group + 1] ?? 0) - (picked.groups[group] ?? 0);
    return { count: until - from, hasNull: until - from < all, values: values.statistics?.(from, until) };
  });
}
