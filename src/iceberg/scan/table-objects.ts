import { isServiceError } from '../../base/errors.ts';
import { inspectFile } from '../../codec/inspect-file.ts';
import type { TableObject } from '../../table/table-object.ts';
import { readDeletionVector } from '../deletes/deletion-vector.ts';
import type { ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { entriesOf, type MetadataSource, manifestsOf } from './manifests.ts';

/** The manifest list of a state, its manifests, and after each the live files it names. */
export async function* tableObjects(
  source: MetadataSource,
  state: SnapshotState,
  signal?: AbortSignal,
): AsyncGenerator<TableObject, void, undefined> {
  const { metadata, snapshot } = state;
  if (snapshot?.manifestList !== undefined) yield manifestListObject(source, state, snapshot.manifestList);
  const manifests = await unlessBroken(() => manifestsOf(source, metadata, snapshot, signal));
  for (const manifest of manifests) {
    yield manifestObject(source, state, manifest);
    for (const entry of await unlessBroken(() => entriesOf(source, metadata, manifest, signal))) {
      if (entry.status !== 'deleted') yield contentObject(source, entry);
    }
  }
}

/** What is wrong with a file of metadata is found by its own inspection. */
async function unlessBroken<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await read();
  } catch (error) {
    if (isServiceError(error, 'not-found') || isServiceError(error, 'corrupt')) return [];
    throw error;
  }
}

function manifestListObject(source: MetadataSource, { metadata, snapshot }: SnapshotState, path: string): TableObject {
  return {
    noun: 'manifest list',
    path,
    sizeBytes: undefined,
    count: undefined,
    head: (signal) => sizeOf(source, path, signal),
    inspect: async (_sizeBytes, signal) => {
      await manifestsOf(source, metadata, snapshot, signal);
      return undefined;
    },
  };
}

/** What the manifest list counts: added and existing files, which the manifest must have. */
function manifestObject(source: MetadataSource, { metadata }: SnapshotState, manifest: ManifestFile): TableObject {
  const { path, addedFiles, existingFiles } = manifest;
  return {
    noun: 'manifest',
    path,
    sizeBytes: manifest.length,
    count: addedFiles === undefined || existingFiles === undefined ? undefined : addedFiles + existingFiles,
    head: (signal) => sizeOf(source, path, signal),
    inspect: async (_sizeBytes, signal) =>
      (await entriesOf(source, metadata, manifest, signal)).filter(({ status }) => status !== 'deleted').length,
  };
}

const nouns = { data: 'data file', 'position-deletes': 'position delete file', 'equality-deletes': 'equality delete file' } as const;

function contentObject(source: MetadataSource, entry: ManifestEntry): TableObject {
  const { content, path, format, fileSizeBytes, recordCount } = entry.file;
  const base = { path, sizeBytes: fileSizeBytes, count: recordCount, head: (signal?: AbortSignal) => sizeOf(source, path, signal) };
  // Reading a vector checks its checksum and number of positions.
  if (format === 'puffin') {
    return {
      ...base,
      noun: 'deletion vector',
      inspect: async (_, signal) => (await readDeletionVector(source, entry, undefined, signal)).length,
    };
  }
  return {
    ...base,
    noun: nouns[content],
    inspect: (sizeBytes, signal) =>
      inspectFile(format, { name: path, sizeBytes, read: (range) => source.files.readRange(path, range, signal) }),
  };
}

async function sizeOf({ files }: MetadataSource, path: string, signal: AbortSignal | undefined): Promise<number | undefined> {
  return (await files.head(path, signal))?.sizeBytes;
}
