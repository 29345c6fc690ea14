import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { RegisteredSchema, SchemaKey } from '../../protocol/payload-encoding.ts';
import type { ColumnLimits, FoundColumn, FoundRow } from './found-row.ts';

/** What of a record of the topic is looked at. */
export interface SampledRecord {
  readonly value: Uint8Array | undefined;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
}

/** How the values of a topic are encoded, and the columns that take them. */
export interface FoundPayload {
  /** Of the route's `value`, in order. */
  readonly value: readonly (readonly [setting: string, value: string | readonly string[]])[];
  readonly row: FoundRow;
  /** What a person should know, a sentence each. */
  readonly notes: readonly string[];
}

export interface FindPayloadOptions {
  readonly limits: ColumnLimits;
  /** Asks the registry; `undefined` without one. */
  readonly schemaOf: ((key: SchemaKey) => Promise<RegisteredSchema>) | undefined;
  /** Change events get columns for their own members (before, after, source, op …) instead of those of their rows. Default: false. */
  readonly wholeEvents?: boolean;
}

/** A record with a value. */
export type Sample = Pick<SampledRecord, 'headers'> & { readonly value: Uint8Array };
export type Settings = FoundPayload['value'];

export const emptyRow: FoundRow = { columns: [], left: [] };

export const envelope: Settings = [['envelope', 'debezium']];

const eventColumns: readonly FoundColumn[] = [
  { name: '__op', type: { kind: 'string' }, note: 'c, u, d, or r of a snapshot' },
  { name: '__deleted', type: { kind: 'boolean' } },
  { name: '__source_ts_ms', type: { kind: 'long' } },
];

/** Besides the row's: what happened to it. */
export function withEventColumns({ columns, left }: FoundRow): FoundRow {
  return { columns: [...columns, ...eventColumns], left };
}

/** Those of the values that are JSON objects. */
export function objectsOf(values: readonly Uint8Array[]): readonly JsonObject[] {
  return values.map(jsonObject).filter((object) => object !== undefined);
}

function jsonObject(value: Uint8Array): JsonObject | undefined {
  const json = textOf(value);
  if (json === undefined || !/^\s*\{/.test(json)) return undefined;
  try {
    const parsed: JsonValue = parseJson(json, 'a value');
    return isJsonObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (!isServiceError(error, 'corrupt')) throw error;
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `undefined`: the bytes are no UTF-8. */
export function textOf(value: Uint8Array): string | undefined {
  try {
    return utf8.decode(value);
  } catch {
    return undefined;
  }
}

/** One record in ten may be broken. */
export function isMost(count: number, all: number): boolean {
  return count > 0 && count * 10 >= all * 9;
}
