import type { OpenEngine } from '../../engine/engine.ts';
import { mergedPositions } from '../../rows/change/merged-positions.ts';
import type { ScanFile } from '../../table/scan.ts';
import type { LiveFile } from '../scan/live-files.ts';
import type { MetadataSource } from '../scan/manifests.ts';
import type { NameToId } from '../scan/name-to-id.ts';
import type { IcebergSchema, TableMetadata } from '../spec/table-metadata.ts';
import { readDeletionVector } from './deletion-vector.ts';
import { EqualityDeletes } from './equality-deletes.ts';
import { PositionDeletes } from './position-deletes.ts';

export interface DeletedRowsParts {
  readonly source: MetadataSource;
  readonly metadata: TableMetadata;
  readonly schema: IcebergSchema;
  readonly nameToId: NameToId | undefined;
  readonly engine: OpenEngine;
  readonly files: readonly LiveFile[];
}

/** For each file of a scan, what reads the ascending positions of its deleted rows; `undefined` where nothing was deleted. */
export function deletedRowsOf(parts: DeletedRowsParts): (file: LiveFile) => ScanFile['deletedRows'] {
  const { source, metadata, engine } = parts;
  const own = parts.files.flatMap(({ attached }) => attached.own);
  const positions = new PositionDeletes(source, metadata, engine, [...new Set(own)]);
  const concerned = parts.files.filter(({ attached }) => attached.equality.length + attached.globalEquality.length > 0);
  const equality = new EqualityDeletes({ ...parts, files: concerned });
  return ({ entry, attached }) => {
    const { path } = entry.file;
    const { vector, shared } = attached;
    const byEquality = attached.equality.length + attached.globalEquality.length > 0;
    if (vector === undefined && attached.own.length + shared.length === 0 && !byEquality) return undefined;
    return async (signal) => {
      const lists: BigInt64Array[] = [];
      if (vector !== undefined) lists.push(await readDeletionVector(source, vector, entry.file.recordCount, signal));
      lists.push(...(await positions.of(path, attached, signal)));
      if (byEquality) lists.push(...(await equality.of(path, signal)));
      return mergedPositions(lists);
    };
  };
}
