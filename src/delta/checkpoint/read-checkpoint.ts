import { isJsonObject, type JsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { PlainRow, PlainValue } from '../../codec/rows.ts';
import type { StructType } from '../../schema/types.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { actionOf, jsonLines } from '../action-json.ts';
import { logCorrupt } from '../action-reader.ts';
import type { Action, MetadataAction } from '../actions.ts';
import type { ParquetRowCodec } from '../log/codec.ts';
import type { CheckpointFiles } from '../log/log-listing.ts';
import { sidecarFolder } from '../log/log-names.ts';
import { decodePath } from '../paths.ts';
import { parseSchemaString } from '../schema-json.ts';
import { parsedStatsText } from './parsed-stats-text.ts';

const actionColumns = ['protocol', 'metaData', 'txn', 'add', 'remove', 'domainMetadata'] as const;
const columns: readonly string[] = [...actionColumns, 'sidecar'];
/** Without these a Parquet file is no checkpoint, or no sidecar of one: what is not in it would be taken for not in the table. */
const checkpointColumns = ['protocol', 'metaData', 'txn', 'add', 'remove'] as const;
const manifestColumns = ['protocol', 'metaData', 'txn'] as const;
const sidecarColumns = ['add', 'remove'] as const;

/** A file of a checkpoint, and what is known of it before it is read. */
interface PartFile {
  readonly path: string;
  /** Columns that it must have, in Parquet, by those that it has. */
  readonly required: (found: ReadonlySet<string>) => readonly string[];
  readonly sizeBytes?: number | undefined;
}

/**
 * All actions of a complete checkpoint, part by part; a V2 checkpoint's sidecars are followed.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt) naming the file, `STORAGE_NOT_FOUND`: try an older checkpoint.
 */
export async function* readCheckpoint(
  store: ObjectStore,
  codec: ParquetRowCodec,
  checkpoint: CheckpointFiles,
  signal?: AbortSignal,
): AsyncIterable<Action> {
  const reading = new CheckpointReading(store.root);
  for (const path of checkpoint.paths) {
    const sidecars: PartFile[] = [];
    const required = checkpoint.paths.length === 1 ? requiredOfCheckpoint : requiredOfPart;
    for (const row of await rowsOfFile(store, codec, { path, required }, signal)) {
      const sidecar = sidecarOf(row, path, store.root);
      if (sidecar !== undefined) sidecars.push(sidecar);
      yield* reading.actionsOf(row, path);
    }
    for (const sidecar of sidecars) {
      for (const row of await rowsOfFile(store, codec, sidecar, signal)) yield* reading.actionsOf(row, sidecar.path);
    }
  }
  yield* reading.rest();
}

/** Paths of the files a checkpoint refers to; none for one that holds everything itself. */
export async function sidecarsOf(
  store: ObjectStore,
  codec: ParquetRowCodec,
  checkpoint: CheckpointFiles,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const sidecars: string[] = [];
  for (const path of checkpoint.paths) {
    for (const row of await rowsOfFile(store, codec, { path, required: () => [] }, signal, ['sidecar'])) {
      const sidecar = sidecarOf(row, path, store.root);
      if (sidecar !== undefined) sidecars.push(sidecar.path);
    }
  }
  return sidecars;
}

/** One that refers to sidecars need not hold files itself, whatever its name. */
function requiredOfCheckpoint(found: ReadonlySet<string>): readonly string[] {
  return found.has('sidecar') ? manifestColumns : checkpointColumns;
}

/** Some writers leave out of a part what no row of it has; one without any column of a checkpoint is another file. */
function requiredOfPart(found: ReadonlySet<string>): readonly string[] {
  return actionColumns.some((name) => found.has(name)) ? [] : checkpointColumns;
}

async function rowsOfFile(
  store: ObjectStore,
  codec: ParquetRowCodec,
  { path, required, sizeBytes }: PartFile,
  signal: AbortSignal | undefined,
  wanted: readonly string[] = columns,
): Promise<Iterable<JsonObject>> {
  const bytes = await store.read(path, signal);
  if (sizeBytes !== undefined && bytes.byteLength !== sizeBytes) {
    throw logCorrupt(path, `the file has ${bytes.byteLength} bytes, its checkpoint says ${sizeBytes}`);
  }
  if (path.endsWith('.json')) return jsonLines(bytes, { file: path, root: store.root });
  const { rows, found } = await parquetRowsOf(codec, bytes, path, wanted);
  const missing = required(found).filter((name) => !found.has(name));
  if (missing.length > 0) throw logCorrupt(path, `the file has no column ${missing.map((name) => `"${name}"`).join(', ')}`);
  return jsonForms(rows);
}

async function parquetRowsOf(
  codec: ParquetRowCodec,
  bytes: Uint8Array,
  path: string,
  wanted: readonly string[],
): ReturnType<ParquetRowCodec['read']> {
  try {
    return await codec.read(bytes, wanted);
  } catch (cause) {
    if (!isServiceError(cause, 'corrupt', 'unsupported')) throw cause;
    throw logCorrupt(path, `the file cannot be read as a checkpoint: ${cause.message}`, cause);
  }
}

function* jsonForms(rows: Iterable<PlainRow>): Generator<JsonObject, void, undefined> {
  for (const row of rows) {
    const form = jsonOf(row);
    if (isJsonObject(form)) yield form;
  }
}

/** Files whose statistics are columns only wait for the schema, which tells what the columns are. */
class CheckpointReading {
  readonly #root: string;
  readonly #waiting: { readonly body: JsonObject; readonly path: string }[] = [];
  #schema: StructType | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  *actionsOf(row: JsonObject, path: string): Generator<Action, void, undefined> {
    for (const name of actionColumns) {
      const body = row[name] ?? null;
      if (body === null) continue;
      if (name === 'add' && isJsonObject(body) && needsStats(body)) {
        if (this.#schema === undefined) this.#waiting.push({ body, path });
        else yield* this.#withStats(body, path);
        continue;
      }
      const action = actionOf(name, body, path, this.#root);
      if (action === undefined) continue;
      yield action;
      if (action.kind !== 'metaData') continue;
      this.#schema = schemaOf(action);
      yield* this.rest();
    }
  }

  /** The files that waited. */
  *rest(): Generator<Action, void, undefined> {
    for (const { body, path } of this.#waiting.splice(0)) yield* this.#withStats(body, path);
  }

  *#withStats(body: JsonObject, path: string): Generator<Action, void, undefined> {
    const action = actionOf('add', { ...body, stats: parsedStatsText(body['stats_parsed'], this.#schema) }, path, this.#root);
    if (action !== undefined) yield action;
  }
}

function needsStats(add: JsonObject): boolean {
  return (add['stats'] ?? undefined) === undefined && isJsonObject(add['stats_parsed']);
}

/** A schema that cannot be read is complained about by whoever needs it. */
function schemaOf(metadata: MetadataAction): StructType | undefined {
  try {
    return parseSchemaString(metadata.schemaString, 'checkpoint');
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}

/** A Parquet value as the JSON form has it. Bytes, which no member of an action is, become numbers: where one is looked for they are refused. */
function jsonOf(value: PlainValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map((entry: PlainValue) => jsonOf(entry));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, entry]: [PlainValue, PlainValue]) => [typeof key === 'string' ? key : '', jsonOf(entry)]));
}

/** What a row says of a sidecar: a bare name, or a path or URI of a file in the folder of sidecars, and its size. */
function sidecarOf(row: JsonObject, where: string, root: string): PartFile | undefined {
  const sidecar = row['sidecar'] ?? null;
  if (sidecar === null) return undefined;
  if (!isJsonObject(sidecar)) throw logCorrupt(where, '"sidecar" is not an object');
  const { path, sizeInBytes } = sidecar;
  if (typeof path !== 'string' || path === '') throw logCorrupt(where, 'a sidecar has no path');
  if (typeof sizeInBytes !== 'number') throw logCorrupt(where, `the sidecar "${path}" has no size`);
  const decoded = decodePath(path, root);
  return { path: path.includes('/') ? decoded : `${sidecarFolder}${decoded}`, required: () => sidecarColumns, sizeBytes: sizeInBytes };
}
