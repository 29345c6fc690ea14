import type { IdSource } from '../../base/ids.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { ParquetRowCodec } from '../log/codec.ts';

/** Where and how checkpoints are written. */
export interface CheckpointTarget {
  readonly store: ObjectStore;
  readonly codec: ParquetRowCodec;
  readonly ids: IdSource;
}
