import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { OtherFile } from '../../table/changes.ts';
import { nameToIdOf } from '../scan/file-scan.ts';
import { otherRows } from '../scan/other-rows.ts';

/** The rows of a change file that has a reader of its own, in the order of the file: columns of the schema, found by their ids. */
export function otherFileRows(
  request: {
    readonly store: Pick<ObjectStore, 'root' | 'read' | 'readRange' | 'head'>;
    readonly path: string;
    readonly sizeBytes: number;
    readonly other: OtherFile;
    readonly schema: StructType;
  },
  signal?: AbortSignal,
): AsyncIterable<ColumnBatch> {
  const { store, path, sizeBytes, other, schema } = request;
  const { format, nameMapping, constants: partition } = other;
  const file = { path, format, fileSizeBytes: sizeBytes, specId: 0 };
  return otherRows(
    { name: store.root, files: store },
    { file, schema, nameToId: nameToIdOf(nameMapping), partition, withLineage: false },
    signal,
  );
}
