import type { AvroType } from '../../codec/avro/avro-type.ts';
import { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { leastBytes } from '../../codec/avro/skip-values.ts';
import { bytesReader, numberReader, type Read, unexpected } from './avro-fields.ts';
import type { ContentFile } from './content-file.ts';

/** Reads a map by field id. */
export type MapReader<T> = (cursor: ByteCursor) => ReadonlyMap<number, T>;

/** The maps of a file, by the names they have there. */
export const metricNames = ['columnSizes', 'valueCounts', 'nullValueCounts', 'nanValueCounts', 'lowerBounds', 'upperBounds'] as const;

export type MetricName = (typeof metricNames)[number];

/** What reads each of an entry's maps, made once for a manifest. */
export type MetricsReaders = { [Name in MetricName]?: (cursor: ByteCursor) => ContentFile[Name] };

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

  /** `place`: where the map of the name is kept, its own name joined once and not for each file. */
  map<Name extends MetricName>(name: Name, place: `${Name}At`): ContentFile[Name] | undefined {
    const at: number = this[place];
    return at < 0 ? undefined : this.#readers[name]?.(new ByteCursor(this.#block.subarray(at), this.#where));
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
