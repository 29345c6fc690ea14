import { isJsonObject, type JsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { invalidMetadata } from './spec-errors.ts';

/**
 * The members of a JSON object, each asked for by its type, and what is left: members nobody asked for. A member that is null counts as
 * absent. `where` names the object in errors.
 *
 * @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt) from every read that does not find what it asks for.
 */
export class JsonMembers {
  readonly where: string;
  readonly #members: JsonObject;
  readonly #asked = new Set<string>();

  constructor(value: JsonValue | undefined, where: string) {
    if (!isJsonObject(value)) throw invalidMetadata(where, 'cannot parse from non-object');
    this.where = where;
    this.#members = value;
  }

  /** As it is; `undefined` for null. */
  value(name: string): JsonValue | undefined {
    this.#asked.add(name);
    return Object.hasOwn(this.#members, name) ? (this.#members[name] ?? undefined) : undefined;
  }

  int(name: string): number {
    return this.#present(this.optionalInt(name), 'int', name);
  }

  optionalInt(name: string): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 31) return value;
    throw this.#mismatch('an integer value', name);
  }

  /** A long that fits a double, as sizes and instants do. */
  safeLong(name: string): number {
    const value = this.#present(this.value(name), 'long', name);
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
    throw this.#mismatch('a long value', name);
  }

  long(name: string): bigint {
    return this.#present(this.optionalLong(name), 'long', name);
  }

  optionalLong(name: string): bigint | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : this.#longOf(value, name);
  }

  text(name: string): string {
    return this.#present(this.optionalText(name), 'string', name);
  }

  optionalText(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#mismatch('a string value', name);
  }

  flag(name: string): boolean {
    const value = this.#present(this.value(name), 'boolean', name);
    if (typeof value === 'boolean') return value;
    throw this.#mismatch('a boolean value', name);
  }

  list(name: string): readonly JsonValue[] {
    return this.#present(this.optionalList(name), 'list', name);
  }

  optionalList(name: string): readonly JsonValue[] | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value)) return value as readonly JsonValue[];
    throw this.#mismatch('an array', name);
  }

  optionalInts(name: string): readonly number[] | undefined {
    return this.optionalList(name)?.map((value) => {
      if (typeof value === 'number' && Number.isInteger(value)) return value;
      throw this.#mismatch('integers', name);
    });
  }

  longs(name: string): readonly bigint[] {
    return this.list(name).map((value) => this.#longOf(value, name));
  }

  texts(name: string): readonly string[] {
    return this.list(name).map((value) => {
      if (typeof value === 'string') return value;
      throw this.#mismatch('strings', name);
    });
  }

  optionalTextMap(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) throw this.#mismatch('a string map', name);
    const entries: [string, string][] = [];
    for (const [key, text] of Object.entries(value)) {
      if (typeof text !== 'string') throw this.#mismatch(`a string value of "${key}"`, name);
      entries.push([key, text]);
    }
    return Object.fromEntries(entries);
  }

  /** Members that were not asked for; `undefined` without any. Ask last. */
  get rest(): JsonObject | undefined {
    const rest = Object.entries(this.#members).filter(([name]) => !this.#asked.has(name));
    return rest.length === 0 ? undefined : Object.fromEntries(rest);
  }

  #longOf(value: JsonValue, name: string): bigint {
    if (typeof value === 'bigint') {
      // Some writers take ids for unsigned.
      if (BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value) return value;
    } else if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    throw this.#mismatch('a long value', name);
  }

  #present<T>(value: T | undefined, kind: string, name: string): T {
    if (value === undefined) throw invalidMetadata(this.where, `cannot parse missing ${kind}: ${name}`);
    return value;
  }

  #mismatch(kind: string, name: string): Error {
    return invalidMetadata(this.where, `cannot parse to ${kind}: ${name}`);
  }
}
