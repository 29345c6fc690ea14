import { throwIfAborted } from '../base/abort.ts';
import type { ChangeFile, VersionChanges } from '../table/changes.ts';
import type { ReadableTable } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import type { ChangeFileRequest } from './change-file.ts';
import { ChangeFileReader, type ChangeFileReaderParts } from './change-file-reader.ts';
import { changeTypes } from './change-order.ts';
import { jsonNotation } from './encoding/json-notation.ts';
import { jsonRows } from './encoding/json-rows.ts';
import { RecordBuffer } from './encoding/record-buffer.ts';
import { EventWriter, flatShape } from './envelope.ts';
import { RowWriters } from './row-writers.ts';
import { segmentsOf } from './version-segments.ts';

/**
 * The changes of versions `[fromVersion, untilVersion)` as lines of JSON in the flat envelope, in the order a feed without a key
 * publishes them. For people and tests; a feed encodes record batches instead.
 *
 * @throws ServiceError as `Table.changesOf` and `ChangeFileReader.open`.
 */
export async function* changeLines(
  source: ChangeFileReaderParts & {
    readonly table: ReadableTable;
    readonly fromVersion: Version;
    readonly untilVersion: Version;
  },
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { table, fromVersion, untilVersion } = source;
  for (let version: number = fromVersion; version < untilVersion; version++) {
    throwIfAborted(signal);
    const changes = await table.changesOf(toVersion(version), {}, signal);
    try {
      yield* linesOf({ ...source, location: table.location, changes }, signal);
    } finally {
      await changes.release?.();
    }
  }
}

/** The rows of one version's changes (or of a snapshot, as inserts) as lines of flat JSON. */
async function* linesOf(
  source: ChangeFileReaderParts & { readonly location: string; readonly changes: VersionChanges },
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { location, changes } = source;
  const reader = new ChangeFileReader(source);
  const events = changeTypes.map((type) => new EventWriter(flatShape(changes, type), jsonNotation));
  const text = new RecordBuffer();
  const requestOf = (file: ChangeFile): ChangeFileRequest => ({ location, changes, file, keyColumns: [] });
  try {
    for (const { file, phase } of segmentsOf(changes.files)) {
      const opened = await reader.open(requestOf(file), signal);
      for (let position = 0; position < opened.counts[phase]; ) {
        const { rows, codes, order } = await opened.pieceAt(phase, position);
        position += order.length;
        const writers = new RowWriters(rows, jsonRows([]));
        for (const row of order) {
          text.clear();
          events[codes[row] ?? 0]?.append(text, writers, { before: -1, after: row, ordinal: 0, number: 0 });
          yield text.text();
        }
      }
    }
  } finally {
    await reader.close(changes.files.map(requestOf));
  }
}
