import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { ServiceError } from '../../base/errors.ts';
import type { PlainRow, PlainValue } from '../../codec/rows.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { actionOf } from '../action-json.ts';
import type { Action } from '../actions.ts';
import type { ParquetRowCodec } from '../log/codec.ts';
import type { CheckpointFiles } from '../log/log-listing.ts';
import { logFolder } from '../log/log-names.ts';

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
  for (const path of checkpoint.paths) {
    const sidecars: string[] = [];
    for (const row of await rowsOfFile(store, codec, path, signal)) {
      const sidecar = row['sidecar'];
      if (isJsonObject(sidecar)) sidecars.push(sidecarPath(sidecar, path));
      yield* actionsOf(row, path, store.root);
    }
    for (const sidecar of sidecars) {
      for (const row of await rowsOfFile(store, codec, sidecar, signal)) yield* actionsOf(row, sidecar, store.root);
    }
  }
}

async function rowsOfFile(
  store: ObjectStore,
  codec: ParquetRowCodec,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Iterable<JsonObject>> {
  const bytes = await store.read(path, signal);
  return path.endsWith('.json') ? jsonRows(bytes, path) : jsonForms(await codec.read(bytes, columns));
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

function* actionsOf(row: JsonObject, path: string, root: string): Generator<Action, void, undefined> {
  for (const name of actionColumns) {
    const body = row[name];
    const action = isJsonObject(body) ? actionOf(name, body, path, root) : undefined;
    if (action !== undefined) yield action;
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

function sidecarPath(sidecar: JsonObject, where: string): string {
  const path = sidecar['path'];
  if (typeof path === 'string' && path !== '') return path.includes('/') ? path : `${logFolder}_sidecars/${decodeURIComponent(path)}`;
  throw new ServiceError({ code: 'DELTA_LOG_CORRUPT', kind: 'corrupt', message: `${where}: a sidecar has no path` });
}
