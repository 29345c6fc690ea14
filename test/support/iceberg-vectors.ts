import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/base/bigint-json.ts';

const path = new URL('../golden/vectors/iceberg.json', import.meta.url);
const vectors = parseJson(readFileSync(path, 'utf8'), 'vectors');

export type VectorGroup = 'table-metadata' | 'avro-files' | 'puffin' | 'dv-blobs' | 'bucket-hash' | 'single-value-binary' | 'transforms';

/** The vectors of a group: values of other implementations, or files and what is in them. See test/golden/CATALOGUE.md. */
export function vectorsOf(group: VectorGroup): readonly JsonObject[] {
  const rows = isJsonObject(vectors) ? vectors[group] : undefined;
  if (!Array.isArray(rows)) throw new TypeError(`no vectors ${group}`);
  return (rows as readonly JsonValue[]).filter(isJsonObject);
}

/** A vector's text member. */
export function textOf(vector: JsonObject, member: string): string {
  const value = vector[member];
  if (typeof value !== 'string') throw new TypeError(`no text ${member}`);
  return value;
}

/** The file of a vector. */
export function bytesOf(vector: JsonObject): Uint8Array {
  return new Uint8Array(inflateSync(Buffer.from(textOf(vector, 'deflated'), 'base64')));
}

export function fileVector(group: VectorGroup, name: string): Uint8Array {
  const vector = vectorsOf(group).find((one) => one['name'] === name);
  if (vector === undefined) throw new TypeError(`no vector ${name}`);
  return bytesOf(vector);
}
