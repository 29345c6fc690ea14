import { isJsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { isServiceError, serviceError } from '../base/errors.ts';
import { toVersion, type Version } from './version.ts';

/** Begins with `_`: cleaners of both formats, and other engines, leave it alone. */
const folder = '_tidewater/readers/';

/** Where the objects of a table are: an `ObjectStore`, rooted at the table's location. */
interface NoteStore {
  read(path: string, signal?: AbortSignal): Promise<Uint8Array>;
  list(options: { readonly prefix: string }, signal?: AbortSignal): AsyncIterable<{ readonly path: string }>;
  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  delete(path: string, signal?: AbortSignal): Promise<void>;
}

/** A reader of changes that is not through with a table. */
export interface NotedReader {
  /** Who: the id of a feed or reader. */
  readonly by: string;
  /** Changes from this version on. */
  readonly fromVersion: Version;
}

/** What a pipeline knows of the readers of a table, beside the table itself: for those who delete and ask no broker. */
export interface ReaderNote {
  readonly pipeline: string;
  readonly table: string;
  readonly readers: readonly NotedReader[];
}

/** Replaces what the pipeline noted before, where that differs; without readers it takes it away. */
export async function putReaderNote(
  store: NoteStore,
  { pipeline, table, readers }: ReaderNote,
  tableId: string,
  signal?: AbortSignal,
): Promise<void> {
  const path = `${folder}${encodeURIComponent(pipeline)}.${encodeURIComponent(table)}.json`;
  if (readers.length === 0) return store.delete(path, signal);
  const text = `${printJson({ tableId, readers: readers.map(({ by, fromVersion }) => ({ by, fromVersion })) })}\n`;
  // Several processes note every minute: looking is cheaper than writing where nothing has changed.
  if ((await noteAt(store, path, signal)) !== text) await store.put(path, new TextEncoder().encode(text), signal);
}

/**
 * Readers that pipelines noted for the table of this identity. A note may be late: they stand there or further on.
 *
 * @throws ServiceError `READER_NOTE_INVALID` (corrupt) for a note that is none: nothing may be deleted.
 */
export async function notedReaders(store: NoteStore, tableId: string, signal?: AbortSignal): Promise<readonly NotedReader[]> {
  const found: NotedReader[] = [];
  for await (const { path } of store.list({ prefix: folder }, signal)) {
    const text = await noteAt(store, path, signal);
    if (text !== undefined) found.push(...parseNote(text, path, tableId));
  }
  return found;
}

/** The first version that somebody needs: of those who noted it, and of those the caller knows. */
export async function firstNeeded(
  store: NoteStore,
  tableId: string,
  known: Version | undefined,
  signal?: AbortSignal,
): Promise<Version | undefined> {
  return firstOf(await notedReaders(store, tableId, signal), known);
}

/** The first version that one of the readers needs, or the caller. */
export function firstOf(readers: readonly NotedReader[], known: Version | undefined): Version | undefined {
  const all = [...readers.map(({ fromVersion }) => fromVersion), ...(known === undefined ? [] : [known])];
  return all.length === 0 ? undefined : toVersion(Math.min(...all));
}

/** The text of a note; `undefined`: there is none. */
async function noteAt(store: NoteStore, path: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await store.read(path, signal));
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

function parseNote(text: string, path: string, tableId: string): readonly NotedReader[] {
  const root = parseJson(text, path);
  const { tableId: of, readers } = isJsonObject(root) ? root : {};
  if (typeof of !== 'string' || !Array.isArray(readers)) throw invalid(path);
  if (of !== tableId) return [];
  return readers.map((reader: JsonValue) => {
    const { by, fromVersion } = isJsonObject(reader) ? reader : {};
    if (typeof by !== 'string' || typeof fromVersion !== 'number' || !Number.isSafeInteger(fromVersion)) throw invalid(path);
    return { by, fromVersion: toVersion(fromVersion) };
  });
}

function invalid(path: string): Error {
  return serviceError.corrupt('READER_NOTE_INVALID', `"${path}" does not tell which readers need the table`, {
    hint: 'it is written again every minute by the pipeline that has the feeds; where there is none any more, delete it',
  });
}
