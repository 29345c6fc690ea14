import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../iceberg/pointer/table-pointer.ts';

/** A catalog's table under the name it has in the configuration: by it the pipeline's parts speak of it. */
export function namedPointer(pointer: TablePointer, name: string): TablePointer {
  return {
    name,
    singleWriterOnly: pointer.singleWriterOnly,
    fileSettings: pointer.fileSettings,
    ownPlaces: (loaded: LoadedMetadata) => pointer.ownPlaces(loaded),
    load: (known: LoadedMetadata | undefined, signal?: AbortSignal) => pointer.load(known, signal),
    swap: (base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome> =>
      pointer.swap(base, change, signal),
  };
}
