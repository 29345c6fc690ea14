import type { Column } from '../../../schema/columns.ts';
import { nullColumn, requireRoomForNulls } from '../../../schema/null-column.ts';
import type { DataType } from '../../../schema/types.ts';
import { corruptOrc, unsupportedOrc } from '../orc-errors.ts';
import { streamKind } from '../proto/numbers.ts';
import type { ColumnReader } from './column-reader.ts';
import { columnBase, type ReaderPlace } from './fixed-readers.ts';
import { readOffsets } from './lengths.ts';
import { Presence } from './presence.ts';
import { longsOf } from './stripe.ts';

/** The most elements of lists and maps that one batch may have. */
const maxBatchElements = 2 ** 27;

/** A column that the file lacks. */
export function absentReader(type: DataType): ColumnReader {
  return { capacity: () => 0, read: (length) => nullColumn(type, length) };
}

/** `bounded`: a member is read from the file. */
/** `absent`: types of the members that the file lacks. */
export function structReader(
  { stripe, orc, type }: ReaderPlace,
  parts: readonly ColumnReader[],
  absent: readonly DataType[],
): ColumnReader {
  const presence = new Presence(stripe, orc);
  const bounded = absent.length < parts.length;
  return {
    // Nothing tells how many structs there are of which no member is read.
    capacity: () => (bounded ? presence.capacity + Math.max(...parts.map((part) => part.capacity())) : maxBatchElements),
    read: (length, parent) => {
      requireRoomForNulls(absent, length);
      const present = presence.next(length, parent);
      const children = parts.map((part) => part.read(length, present.validity));
      return { ...columnBase(type, present), layout: 'struct', children };
    },
  };
}

export function listReader(place: ReaderPlace, element: ColumnReader): ColumnReader {
  const entries = new Entries(place);
  return {
    capacity: () => entries.capacity,
    read: (length, parent) => {
      const { base, offsets, count } = entries.next(length, parent);
      return { ...base, layout: 'list', offsets, element: entries.part(element, count) };
    },
  };
}

export function mapReader(place: ReaderPlace, key: ColumnReader, value: ColumnReader): ColumnReader {
  const entries = new Entries(place);
  return {
    capacity: () => entries.capacity,
    read: (length, parent) => {
      const { base, offsets, count } = entries.next(length, parent);
      return { ...base, layout: 'map', offsets, keys: entries.part(key, count), values: entries.part(value, count) };
    },
  };
}

/** What lists and maps have in common: nulls and lengths. */
class Entries {
  readonly #type: DataType;
  readonly #where: string;
  readonly #presence: Presence;
  readonly #lengths: ReturnType<typeof longsOf>;

  constructor({ stripe, orc, type }: ReaderPlace) {
    this.#type = type;
    this.#where = `${stripe.place}, column ${orc.column} "${orc.path}"`;
    this.#presence = new Presence(stripe, orc);
    this.#lengths = longsOf(stripe, orc, streamKind.length, false);
  }

  get capacity(): number {
    return this.#presence.capacity + this.#lengths.capacity;
  }

  next(length: number, parent: Uint8Array | undefined): EntriesPart {
    const present = this.#presence.next(length, parent);
    const offsets = readOffsets(this.#lengths, present, this.#where);
    const count = offsets[length] ?? 0;
    if (count > maxBatchElements) {
      throw unsupportedOrc(this.#where, `${count} elements in one batch pass the limit of ${maxBatchElements}`, 'read fewer rows a batch');
    }
    return { base: columnBase(this.#type, present), offsets, count };
  }

  part(reader: ColumnReader, count: number): Column {
    if (count > reader.capacity()) throw corruptOrc(this.#where, `${count} elements are told and the file has not so many`);
    return reader.read(count, undefined);
  }
}

interface EntriesPart {
  readonly base: ReturnType<typeof columnBase>;
  readonly offsets: Int32Array;
  readonly count: number;
}
