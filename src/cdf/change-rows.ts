import { throwIfAborted } from '../base/abort.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';
import type { VersionChanges } from '../table/changes.ts';
import type { ReadableTable } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import { ChangeFileReader } from './change-file-reader.ts';
import { FlatEnvelope } from './envelope.ts';
import { JsonBuffer } from './json-buffer.ts';
import { segmentsOf } from './version-segments.ts';

/**
 * The changes of versions `[fromVersion, untilVersion)` as lines of JSON in the flat envelope, in the order a feed without a key
 * publishes them. For people and tests; a feed encodes record batches instead.
 *
 * @throws ServiceError as `Table.changesOf` and `ChangeFileReader.open`.
 */
export async function* changeLines(
  source: {
    readonly table: ReadableTable;
    readonly openStore: OpenObjectStore;
    readonly fromVersion: Version;
    readonly untilVersion: Version;
  },
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { table, openStore, fromVersion, untilVersion } = source;
  for (let version: number = fromVersion; version < untilVersion; version++) {
    throwIfAborted(signal);
    const changes = await table.changesOf(toVersion(version), signal);
    try {
      yield* linesOf({ location: table.location, openStore, changes }, signal);
    } finally {
      await changes.release?.();
    }
  }
}

/** The rows of one version's changes (or of a snapshot, as inserts) as lines of flat JSON. */
export async function* linesOf(
  source: { readonly location: string; readonly openStore: OpenObjectStore; readonly changes: VersionChanges },
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { location, openStore, changes } = source;
  const reader = new ChangeFileReader(openStore);
  const envelope = new FlatEnvelope(changes);
  const text = new JsonBuffer();
  for (const { file, phase } of segmentsOf(changes.files)) {
    const { rows, codes, order } = await reader.open({ location, changes, file, keyColumns: [] }, signal);
    for (const row of order[phase]) {
      text.clear();
      envelope.append(text, rows, { row, code: codes[row] ?? 0 });
      yield text.text();
    }
  }
}
