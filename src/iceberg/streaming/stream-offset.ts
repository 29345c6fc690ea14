import { AnalysisException } from '../../base/analysis-exception.ts';
import { isJsonObject, parseJson, printJson } from '../../base/bigint-json.ts';

/** A place in a table's sequence of files: behind the first `position` files of a snapshot. */
export interface StreamOffset {
  readonly snapshotId: bigint;
  readonly position: number;
  /** Among all files of the snapshot, not only those it added. */
  readonly scanAllFiles: boolean;
}

/** The form Spark stores in checkpoints. */
export function printOffset({ snapshotId, position, scanAllFiles }: StreamOffset): string {
  return printJson({ version: 1, snapshot_id: snapshotId, position, scan_all_files: scanAllFiles });
}

/** @throws AnalysisException `STREAM_OFFSET_INVALID` for what is no offset of an Iceberg stream. */
export function parseOffset(text: string): StreamOffset {
  const offset = parseJson(text, 'stream offset');
  if (!isJsonObject(offset) || offset['version'] !== 1) throw malformed(text);
  const { snapshot_id: id, position, scan_all_files: scanAllFiles } = offset;
  if ((typeof id !== 'bigint' && typeof id !== 'number') || typeof position !== 'number' || typeof scanAllFiles !== 'boolean') {
    throw malformed(text);
  }
  // Before the first snapshot of a table both are -1.
  return { snapshotId: BigInt(id), position: Math.max(position, 0), scanAllFiles };
}

function malformed(text: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAM_OFFSET_INVALID',
    message: `"${text}" is not the offset of an Iceberg stream`,
    hint: 'the checkpoint folder belongs to another kind of source; use an empty one',
  });
}
