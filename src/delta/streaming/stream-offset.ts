import { AnalysisException } from '../../base/analysis-exception.ts';
import { isJsonObject, parseJson, printJson } from '../../base/bigint-json.ts';

/** Before the first file of a version. */
export const beforeFirstFile = -1;

/**
 * A place in a table's sequence of files: after file `index` of the version. `starting`: among the files of the first snapshot, not
 * among the changes of the version.
 */
export interface StreamOffset {
  readonly version: number;
  readonly index: number;
  readonly starting: boolean;
}

/** The form Spark stores in checkpoints, source version 1. */
export function printOffset(tableId: string, offset: StreamOffset): string {
  return printJson({
    sourceVersion: 1,
    reservoirId: tableId,
    reservoirVersion: offset.version,
    index: offset.index,
    isStartingVersion: offset.starting,
  });
}

/**
 * @throws AnalysisException `DELTA_INVALID_SOURCE_OFFSET_FORMAT`, `DELTA_INVALID_SOURCE_VERSION`,
 * `DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE` when the offset belongs to another table.
 */
export function parseOffset(tableId: string, text: string): StreamOffset {
  const offset = parseJson(text, 'stream offset');
  if (!isJsonObject(offset)) throw malformed(text);
  const { sourceVersion, reservoirId, reservoirVersion, index, isStartingVersion } = offset;
  if (sourceVersion !== 1 && sourceVersion !== 3) {
    throw new AnalysisException({
      errorClass: 'DELTA_INVALID_SOURCE_VERSION',
      message: `sourceVersion ${printJson(sourceVersion ?? null)} of the stream offset ${text} is not known`,
      hint: 'read the checkpoint with the engine that wrote it, or start with an empty checkpoint folder',
    });
  }
  if (typeof reservoirVersion !== 'number' || typeof index !== 'number' || typeof isStartingVersion !== 'boolean') throw malformed(text);
  if (reservoirId !== tableId) {
    const oldTableId = typeof reservoirId === 'string' ? reservoirId : '';
    throw new AnalysisException({
      errorClass: 'DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE',
      message: `the streaming query was reading from an unexpected Delta table (id = '${tableId}'); it used to read from another Delta table (id = '${oldTableId}') according to its checkpoint`,
      hint: 'the table was deleted and created again, or the path changed: restore the table, or start with an empty checkpoint folder',
      parameters: { newTableId: tableId, oldTableId },
    });
  }
  // Versions 3 has other sentinels below -1; all of them mean "before the first file".
  return { version: reservoirVersion, index: Math.max(index, beforeFirstFile), starting: isStartingVersion };
}

/** Whether `a` comes before `b`. */
export function isBefore(a: StreamOffset, b: StreamOffset): boolean {
  if (a.starting !== b.starting) return a.starting;
  return a.version !== b.version ? a.version < b.version : a.index < b.index;
}

function malformed(text: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_INVALID_SOURCE_OFFSET_FORMAT',
    message: `"${text}" is not the offset of a Delta stream`,
    hint: 'the checkpoint folder belongs to another kind of source; use an empty one',
  });
}
