import type { EventShape } from './event-shape.ts';
import type { EventStep, NumberSizes } from './event-steps.ts';
import type { ScalarType } from './event-type.ts';
import type { RecordBuffer } from './record-buffer.ts';
import type { Scalar, ValueWriter } from './scalars.ts';

/** How values that are there are appended, and Protobuf's wire type of them. */
export interface Written {
  readonly write: ValueWriter;
  readonly wire: WireType;
}

/** Of Protobuf: how a reader finds the end of a value. */
export type WireType = 0 | 1 | 2 | 5;

/** Values of which some may be null. */
export interface Item extends Written {
  /** As in `Column`. */
  readonly validity: Uint8Array | undefined;
  readonly optional: boolean;
  /** Column that the values are of, for messages. */
  readonly column: string;
}

export interface Member extends Item {
  readonly name: string;
  readonly number: number;
}

/** How values, rows and events are laid out in one encoding. */
export interface Notation {
  readonly scalar: (scalar: Scalar, type: ScalarType) => Written;
  /** A struct within something. */
  readonly struct: (members: readonly Member[]) => Written;
  /** The members of a struct without its end, so that others may follow. */
  readonly members: (members: readonly Member[]) => ValueWriter;
  /** What ends a struct that `members` began. */
  readonly end: Uint8Array;
  readonly list: (items: Item, offsets: Int32Array) => Written;
  /** Keys are text. */
  readonly map: (keys: Scalar, values: Item, offsets: Int32Array) => Written;
  /** The row as a member of an event, which is null where there is none. */
  readonly image: (write: ValueWriter) => ImageWriter;
  /** What an event is appended by. Events whose numbers have one `numberSize` have the same steps. */
  readonly steps: (shape: EventShape, sizes: NumberSizes) => readonly EventStep[];
  readonly numberSize: (number: number) => number;
  /** An ordinal, or the number of an event. */
  readonly number: (out: RecordBuffer, number: number) => void;
}

/** `index` -1: none. `tag`: what stands before a row that is there. */
export type ImageWriter = (out: RecordBuffer, index: number, tag: Uint8Array) => void;

export function isNull({ validity }: Item, index: number): boolean {
  return validity !== undefined && ((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0;
}
