import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonValue, parseJson } from '../../../../src/base/bigint-json.ts';
import type { PlainValue } from '../../../../src/codec/rows.ts';

export interface AvroVector {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly codec: JsonValue | undefined;
  readonly rows: JsonValue | undefined;
}

/** The files of `files/vectors.json` by name. */
export function avroVectors(): ReadonlyMap<string, AvroVector> {
  const url = new URL('./files/vectors.json', import.meta.url);
  const all = parseJson(readFileSync(url, 'utf8'), 'vectors.json');
  const vectors = new Map<string, AvroVector>();
  for (const [name, vector] of Object.entries(isJsonObject(all) ? all : {})) {
    if (!isJsonObject(vector) || typeof vector['base64'] !== 'string') throw new TypeError(name);
    vectors.set(name, { name, bytes: Buffer.from(vector['base64'], 'base64'), codec: vector['codec'], rows: vector['rows'] });
  }
  return vectors;
}

/** A file of `files/vectors.json`. */
export function avroVector(name: string): AvroVector {
  const vector = avroVectors().get(name);
  if (vector === undefined) throw new RangeError(name);
  return vector;
}

/** A value in the form of `files/vectors.json`; maps become pairs, as an array that stands for a map is stored. */
export function plain(value: PlainValue): JsonValue {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return `hex:${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return (value as readonly PlainValue[]).map((item) => plain(item));
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<PlainValue, PlainValue>)];
    return entries.map(([key, item]) => ({ key: plain(key), value: plain(item) }));
  }
  return Object.fromEntries(Object.entries(value as Record<string, PlainValue>).map(([key, item]) => [key, plain(item)]));
}
