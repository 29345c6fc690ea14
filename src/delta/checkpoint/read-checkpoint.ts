import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { isServiceError, ServiceError } from '../../base/errors.ts';
import type { PlainRow, PlainValue } from '../../codec/rows.ts';
import type { StructType } from '../../schema/types.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { actionOf } from '../action-json.ts';
import type { Action, MetadataAction } from '../actions.ts';
import type { ParquetRowCodec } from '../log/codec.ts';
import type { CheckpointFiles } from '../log/log-listing.ts';
import { sidecarFolder } from '../log/log-names.ts';
import { decodePath } from '../paths.ts';
import { parseSchemaString } from '../schema-json.ts';
import { parsedStatsText } from './parsed-stats-text.ts';

const actionColumns = ['protocol', 'metaData', 'txn', 'add', 'remove', 'domainMetadata'] as const;
const columns: readonly string[] = [...actionColumns, 'sidecar'];

/**
 * All actions of a complete checkpoint, part by part; a V2 checkpoint's sidecars are followed.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT`, `PARQUET_CORRUPT` (kind corrupt), `STORAGE_NOT_FOUND`: try an older checkpoint.
 */
export async function* readCheckpoint(
  store: ObjectStore,
  codec: ParquetRowCodec,
  checkpoint: CheckpointFiles,
  signal?: AbortSignal,
): AsyncIterable<Action> {
  const reading = new CheckpointReading(store.root);
  for (const path of checkpoint.paths) {
    const sidecars: string[] = [];
    for (const row of await rowsOfFile(store, codec, path, signal)) {
      const sidecar = row['sidecar'];
      if (isJsonObject(sidecar)) sidecars.push(sidecarPath(sidecar, path, store.root));
      yield* reading.actionsOf(row, path);
    }
    for (const sidecar of sidecars) {
      for (const row of await rowsOfFile(store, codec, sidecar, signal)) yield* reading.actionsOf(row, sidecar);
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
    for (const row of await rowsOfFile(store, codec, path, signal, ['sidecar'])) {
      const sidecar = row['sidecar'];
      if (isJsonObject(sidecar)) sidecars.push(sidecarPath(sidecar, path, store.root));
    }
  }
  return sidecars;
}

async function rowsOfFile(
  store: ObjectStore,
  codec: ParquetRowCodec,
  path: string,
  signal: AbortSignal | undefined,
  wanted: readonly string[] = columns,
): Promise<Iterable<JsonObject>> {
  const bytes = await store.read(path, signal);
  return path.endsWith('.json') ? jsonRows(bytes, path) : jsonForms(await codec.read(bytes, wanted));
}

function* jsonRows(bytes: Uint8Array, path: string): Generator<JsonObject, void, undefined> {
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    const row = line.trim() === '' ? {} : parseJson(line, path);
    if (isJsonObject(row)) yield row;
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
      const body = row[name];
      if (!isJsonObject(body)) continue;
      if (name === 'add' && needsStats(body)) {
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

/** A Parquet value as the JSON form has it. Values that no action member has (bytes) become null. */
function jsonOf(value: PlainValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return null;
  if (Array.isArray(value)) return value.map((entry: PlainValue) => jsonOf(entry));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, entry]: [PlainValue, PlainValue]) => [typeof key === 'string' ? key : '', jsonOf(entry)]));
}

/** A bare name, or a path or URI of a file in the folder of sidecars. */
function sidecarPath(sidecar: JsonObject, where: string, root: string): string {
  const path = sidecar['path'];
  if (typeof path === 'string' && path !== '')
    return path.includes('/') ? decodePath(path, root) : `${sidecarFolder}${decodePath(path, root)}`;
  throw new ServiceError({ code: 'DELTA_LOG_CORRUPT', kind: 'corrupt', message: `${where}: a sidecar has no path` });
}
