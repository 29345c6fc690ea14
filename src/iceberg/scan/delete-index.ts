import { type ServiceError, serviceError } from '../../base/errors.ts';
import { partitionPoint } from '../../base/partition-point.ts';
import type { ContentFile, ManifestEntry } from '../metadata/content-file.ts';
import { positionDeleteIds } from '../metadata/reserved-ids.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { partitionKey } from './partition-key.ts';

/** The deletes that concern one data file (https://iceberg.apache.org/spec/#scan-planning). */
export interface AttachedDeletes {
  /** Takes the place of all position delete files. */
  readonly vector: ManifestEntry | undefined;
  /** Position delete files of this data file alone. */
  readonly own: readonly ManifestEntry[];
  /** Position delete files of its partition. The same array for all files that these concern. */
  readonly shared: readonly ManifestEntry[];
  /** Of its partition, and of the whole table. The same arrays for all files that these concern. */
  readonly equality: readonly ManifestEntry[];
  readonly globalEquality: readonly ManifestEntry[];
}

export const noDeletes: AttachedDeletes = { vector: undefined, own: [], shared: [], equality: [], globalEquality: [] };

/**
 * Finds the deletes of data files by sequence number, partition and path, in time that does not grow with the number of delete files.
 *
 * Position deletes concern data of the same or an earlier sequence number, equality deletes only earlier data; both only their own
 * partition of their own spec, except equality deletes of an unpartitioned spec, which concern the whole table.
 */
export class DeleteIndex {
  readonly #vectors = new Map<string, ManifestEntry>();
  readonly #byPath = new Map<string, ManifestEntry[]>();
  readonly #positions = new Map<string, Ordered>();
  readonly #equality = new Map<string, Ordered>();
  readonly #global = new Ordered();
  readonly #empty: boolean;

  /** @param entries live entries of delete manifests. @throws ServiceError `ICEBERG_METADATA_CORRUPT` for two deletion vectors of one file. */
  constructor(metadata: TableMetadata, entries: readonly ManifestEntry[]) {
    this.#empty = entries.length === 0;
    const unpartitioned = new Set(
      metadata.partitionSpecs.flatMap(({ specId, fields }) => (fields.every(({ transform }) => transform.kind === 'void') ? [specId] : [])),
    );
    for (const entry of entries) this.#add(entry, unpartitioned);
  }

  of(data: ManifestEntry): AttachedDeletes {
    if (this.#empty) return noDeletes;
    const { sequenceNumber, file } = data;
    const key = partitionKey(file.specId, file.partition);
    const vector = this.#vectors.get(file.path);
    const concerning = vector !== undefined && vector.sequenceNumber >= sequenceNumber ? vector : undefined;
    const own = concerning === undefined ? (this.#byPath.get(file.path) ?? []) : [];
    return {
      vector: concerning,
      own: own.filter((entry) => entry.sequenceNumber >= sequenceNumber),
      shared: concerning === undefined ? (this.#positions.get(key)?.from(sequenceNumber) ?? []) : [],
      equality: this.#equality.get(key)?.from(sequenceNumber + 1n) ?? [],
      globalEquality: this.#global.from(sequenceNumber + 1n),
    };
  }

  #add(entry: ManifestEntry, unpartitioned: ReadonlySet<number>): void {
    const { file } = entry;
    const key = partitionKey(file.specId, file.partition);
    if (file.content === 'equality-deletes') {
      if (unpartitioned.has(file.specId)) this.#global.add(entry);
      else added(this.#equality, key, () => new Ordered()).add(entry);
      return;
    }
    const path = file.referencedDataFile ?? pathBoundOf(file);
    if (file.format === 'puffin') this.#addVector(entry, path);
    else if (path === undefined) added(this.#positions, key, () => new Ordered()).add(entry);
    else added(this.#byPath, path, (): ManifestEntry[] => []).push(entry);
  }

  #addVector(entry: ManifestEntry, path: string | undefined): void {
    if (path === undefined) throw corrupt(entry, 'does not say which data file it is of');
    if (this.#vectors.has(path)) throw corrupt(entry, `is the second one of data file "${path}"`);
    this.#vectors.set(path, entry);
  }
}

/** Entries by sequence number; the suffixes that are asked for are made once. */
class Ordered {
  readonly #entries: ManifestEntry[] = [];
  readonly #suffixes = new Map<number, readonly ManifestEntry[]>();
  #sorted = true;

  add(entry: ManifestEntry): void {
    this.#entries.push(entry);
    this.#sorted = false;
  }

  /** Those of this sequence number and later. */
  from(sequenceNumber: bigint): readonly ManifestEntry[] {
    if (!this.#sorted) {
      this.#entries.sort((a, b) => (a.sequenceNumber < b.sequenceNumber ? -1 : a.sequenceNumber > b.sequenceNumber ? 1 : 0));
      this.#sorted = true;
    }
    const first = partitionPoint(0, this.#entries.length, (index) => (this.#entries[index]?.sequenceNumber ?? 0n) < sequenceNumber);
    if (first === this.#entries.length) return none;
    return added(this.#suffixes, first, () => this.#entries.slice(first));
  }
}

const none: readonly ManifestEntry[] = [];

function added<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const present = map.get(key);
  if (present !== undefined) return present;
  const value = make();
  map.set(key, value);
  return value;
}

function corrupt({ file }: ManifestEntry, problem: string): ServiceError {
  return serviceError.corrupt('ICEBERG_METADATA_CORRUPT', `deletion vector in "${file.path}" ${problem}`, {
    hint: 'the deleted rows cannot be told from the others; nothing is read',
  });
}

/** Writers that cut bounds cut them to so many code points; what is longer was not cut. */
const cutCodePoints = 16;

/** The one data file a position delete file is about, by its bounds of the path column; `undefined`: there may be several. */
function pathBoundOf({ lowerBounds, upperBounds }: ContentFile): string | undefined {
  const lower = lowerBounds?.get(positionDeleteIds.path);
  const upper = upperBounds?.get(positionDeleteIds.path);
  if (lower === undefined || upper === undefined || Buffer.compare(lower, upper) !== 0) return undefined;
  const path = Buffer.from(lower.buffer, lower.byteOffset, lower.byteLength).toString('utf8');
  return codePoints(path.slice(0, 2 * cutCodePoints + 1)) > cutCodePoints ? path : undefined;
}

function codePoints(text: string): number {
  return Array.from(text).length;
}
