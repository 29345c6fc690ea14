import { type ServiceError, serviceError } from '../../base/errors.ts';
import { inspectFile } from '../../codec/inspect-file.ts';
import type { OpenEngine } from '../../engine/engine.ts';
import { mergedPositions } from '../../rows/change/merged-positions.ts';
import type { ScanFile } from '../../table/scan.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import type { IcebergSchema, TableMetadata } from '../metadata/table-metadata.ts';
import type { LiveFile } from '../scan/live-files.ts';
import type { MetadataSource } from '../scan/manifests.ts';
import type { NameToId } from '../scan/name-to-id.ts';
import { readDeletionVector } from './deletion-vector.ts';
import { EqualityDeletes } from './equality-deletes.ts';
import { PositionDeletes } from './position-deletes.ts';

/** Of a vector with more positions the data file itself is asked for its rows, before memory is taken for what a manifest may only pretend. */
const maxUnprovenPositions = 1_000_000;

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
      if (vector !== undefined) {
        const rows = vector.file.recordCount > maxUnprovenPositions ? await provenRows(source, entry.file, signal) : entry.file.recordCount;
        lists.push(await readDeletionVector(source, vector, rows, signal));
      }
      lists.push(...(await positions.of(path, attached, signal)));
      if (byEquality) lists.push(...(await equality.of(path, signal)));
      const merged = mergedPositions(lists);
      const last = merged.at(-1);
      if (last !== undefined && last >= entry.file.recordCount) throw beyondRows(entry.file, last);
      return merged;
    };
  };
}

function provenRows({ files }: MetadataSource, { path, format, fileSizeBytes }: ContentFile, signal?: AbortSignal): Promise<number> {
  const read = (range: { readonly from: number; readonly until: number }) => files.readRange(path, range, signal);
  return inspectFile(format === 'puffin' ? 'parquet' : format, { name: path, sizeBytes: fileSizeBytes, read });
}

function beyondRows({ path, recordCount }: ContentFile, row: bigint): ServiceError {
  return serviceError.corrupt(
    'ICEBERG_DELETE_FILE_CORRUPT',
    `position deletes name row ${row} of "${path}", which has ${recordCount} rows`,
    { hint: 'the deleted rows cannot be told from the others; nothing is read' },
  );
}
