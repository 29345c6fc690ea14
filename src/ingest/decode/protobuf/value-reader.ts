import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import type { WireCursor } from './wire-cursor.ts';

/** Puts values of one Protobuf type into a column. */
export interface ValueReader {
  readonly column: ColumnBuilder;
  /** The wire type that its values have. */
  readonly wireType: number;
  /** Appends the value at the cursor; of `wire.bytes` it is all of the cursor's range, of others the cursor goes behind it. @throws ValueRefused, WireFault */
  read(cursor: WireCursor): void;
}
