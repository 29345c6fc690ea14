import type { AvroType } from '../../codec/avro/avro-type.ts';
import { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { leastBytes } from '../../codec/avro/skip-values.ts';
import { bytesReader, numberReader, type Read, unexpected } from './avro-fields.ts';

/** Reads a map by field id. */
export type MapReader<T> = (cursor: ByteCursor) => ReadonlyMap<number, T>;

/** What reads each of an entry's maps, made once for a manifest. */
export interface MetricsReaders {
  columnSizes: MapReader<number> | undefined;
  valueCounts: MapReader<number> | undefined;
  nullValueCounts: MapReader<number> | undefined;
  nanValueCounts: MapReader<number> | undefined;
  lowerBounds: MapReader<Uint8Array> | undefined;
  upperBounds: MapReader<Uint8Array> | undefined;
}

/**
 * The maps of one entry, decoded each time they are asked for: planning asks few files for theirs, and kept decoded for all files of a table they
 * would take many times the memory of their bytes. `at` is where each begins in the block, -1 for one that is null.
 */
export class LazyMetrics {
  readonly #readers: MetricsReaders;
  readonly #block: Uint8Array;
  readonly #where: string;
  columnSizesAt = -1;
  valueCountsAt = -1;
  nullValueCountsAt = -1;
  nanValueCountsAt = -1;
  lowerBoundsAt = -1;
  upperBoundsAt = -1;

  constructor(readers: MetricsReaders, block: Uint8Array, where: string) {
    this.#readers = readers;
    this.#block = block;
    this.#where = where;
  }

  get columnSizes(): ReadonlyMap<number, number> | undefined {
    return this.#read(this.#readers.columnSizes, this.columnSizesAt);
  }

  get valueCounts(): ReadonlyMap<number, number> | undefined {
    return this.#read(this.#readers.valueCounts, this.valueCountsAt);
  }

  get nullValueCounts(): ReadonlyMap<number, number> | undefined {
    return this.#read(this.#readers.nullValueCounts, this.nullValueCountsAt);
  }

  get nanValueCounts(): ReadonlyMap<number, number> | undefined {
    return this.#read(this.#readers.nanValueCounts, this.nanValueCountsAt);
  }

  get lowerBounds(): ReadonlyMap<number, Uint8Array> | undefined {
    return this.#read(this.#readers.lowerBounds, this.lowerBoundsAt);
  }

  get upperBounds(): ReadonlyMap<number, Uint8Array> | undefined {
    return this.#read(this.#readers.upperBounds, this.upperBoundsAt);
  }

  #read<T>(reader: MapReader<T> | undefined, at: number): ReadonlyMap<number, T> | undefined {
    if (reader === undefined || at < 0) return undefined;
    return reader(new ByteCursor(this.#block.subarray(at), this.#where));
  }
}

export function countsReader(type: AvroType): MapReader<number> {
  return mapReader(type, numberReader);
}

export function boundsReader(type: AvroType): MapReader<Uint8Array> {
  return mapReader(type, bytesReader);
}

/** Some writers say of pairs, keys and values that they may be null: such pairs say nothing. */
function mapReader<T>(type: AvroType, valueOf: (type: AvroType) => Read<T>): MapReader<T> {
  if (type.kind !== 'array') return unexpected(type);
  const { items } = type;
  const branches = (items.kind === 'union' ? items.branches : [items]).map((branch) => pairReader(branch, valueOf));
  const pairBytes = leastBytes(items);
  return (cursor) => {
    const map = new Map<number, T>();
    for (let count = cursor.blockLength(pairBytes); count > 0; count = cursor.blockLength(pairBytes)) {
      for (let index = 0; index < count; index++) branches[items.kind === 'union' ? cursor.branch(branches.length) : 0]?.(cursor, map);
    }
    return map;
  };
}

function pairReader<T>(
  type: AvroType,
  valueOf: (type: AvroType) => Read<T>,
): ((cursor: ByteCursor, map: Map<number, T>) => void) | undefined {
  if (type.kind === 'null') return undefined;
  const [key, value] = type.kind === 'record' && type.fields.length === 2 ? type.fields : [];
  if (key === undefined || value === undefined) return unexpected(type);
  const readKey = numberReader(key.type);
  const readValue = valueOf(value.type);
  return (cursor, map) => {
    const id = readKey(cursor);
    const entry = readValue(cursor);
    if (id !== undefined && entry !== undefined) map.set(id, entry);
  };
}
