import type { IdSource } from '../../base/ids.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { DeletionVector } from '../actions.ts';
import { encodedUuid, vectorFilePath } from './deletion-vector-path.ts';
import { encodeVector, fileFormatVersion, framed } from './vector-bytes.ts';

/** A file takes no further vector from this size on. */
const fullFileBytes = 2 * 1024 * 1024;

export interface VectorRows {
  /** Ascending, distinct physical row positions. */
  readonly positions: BigInt64Array;
}

/**
 * Stores vectors, several to a file, at the top of the table; nothing refers to the files yet. Gives the descriptors in the order of
 * `vectors`. A file whose `put` failed may exist; it is an orphan for vacuum.
 *
 * The `add` that carries a vector needs `numRecords` in its statistics, with `tightBounds` false.
 */
export async function writeDeletionVectors(
  target: { readonly store: ObjectStore; readonly ids: IdSource },
  vectors: readonly VectorRows[],
  signal?: AbortSignal,
): Promise<readonly DeletionVector[]> {
  const written: DeletionVector[] = [];
  let file = new VectorFile(target.ids.uuid());
  for (const { positions } of vectors) {
    if (file.sizeBytes >= fullFileBytes) {
      await target.store.put(file.path, file.bytes(), signal);
      file = new VectorFile(target.ids.uuid());
    }
    written.push(file.add(positions));
  }
  if (!file.isEmpty) await target.store.put(file.path, file.bytes(), signal);
  return written;
}

/** One file being filled. */
class VectorFile {
  readonly path: string;
  readonly #encodedUuid: string;
  readonly #parts: Uint8Array[] = [Uint8Array.of(fileFormatVersion)];
  #size = 1;

  constructor(uuid: string) {
    this.path = vectorFilePath(uuid);
    this.#encodedUuid = encodedUuid(uuid);
  }

  get sizeBytes(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 1;
  }

  add(positions: BigInt64Array): DeletionVector {
    const vector = encodeVector(positions);
    const offset = this.#size;
    const part = framed(vector);
    this.#parts.push(part);
    this.#size += part.byteLength;
    return {
      storageType: 'u',
      pathOrInlineDv: this.#encodedUuid,
      offset,
      sizeInBytes: vector.byteLength,
      cardinality: positions.length,
    };
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts);
  }
}
