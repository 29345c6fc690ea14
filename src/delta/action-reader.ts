import { isJsonObject, type JsonObject, type JsonValue } from '../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { PartitionValues } from '../table/staged-file.ts';

/** Typed access to the members of one action; a wrong type is a damaged log. */
export class ActionReader {
  readonly where: string;
  readonly #body: JsonObject;

  constructor(body: JsonObject, where: string) {
    this.#body = body;
    this.where = where;
  }

  text(key: string): string {
    return this.optionalText(key) ?? this.#wrong(key, 'text');
  }

  optionalText(key: string): string | undefined {
    const value = this.#value(key);
    return value === undefined || typeof value === 'string' ? value : this.#wrong(key, 'text');
  }

  integer(key: string): number {
    return this.optionalInteger(key) ?? this.#wrong(key, 'an integer');
  }

  optionalInteger(key: string): number | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    const number = typeof value === 'bigint' ? Number(value) : value;
    return typeof number === 'number' && Number.isSafeInteger(number) ? number : this.#wrong(key, 'an integer');
  }

  long(key: string): bigint {
    return this.optionalLong(key) ?? this.#wrong(key, 'an integer');
  }

  optionalLong(key: string): bigint | undefined {
    const value = this.#value(key);
    if (value === undefined || typeof value === 'bigint') return value;
    return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : this.#wrong(key, 'an integer');
  }

  flag(key: string): boolean | undefined {
    const value = this.#value(key);
    return value === undefined || typeof value === 'boolean' ? value : this.#wrong(key, 'a boolean');
  }

  object(key: string): JsonObject | undefined {
    const value = this.#value(key);
    return value === undefined || isJsonObject(value) ? value : this.#wrong(key, 'an object');
  }

  texts(key: string): readonly string[] | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.#wrong(key, 'a list of text');
    return value.map((entry: JsonValue) => (typeof entry === 'string' ? entry : this.#wrong(key, 'a list of text')));
  }

  requiredMap(key: string): PartitionValues {
    return this.map(key) ?? this.#wrong(key, 'an object');
  }

  map(key: string): PartitionValues | undefined {
    const value = this.object(key);
    if (value === undefined) return undefined;
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [
        name,
        entry === null || entry === undefined ? undefined : typeof entry === 'string' ? entry : this.#wrong(`${key}.${name}`, 'text'),
      ]),
    );
  }

  #value(key: string): Exclude<JsonValue, null> | undefined {
    return this.#body[key] ?? undefined;
  }

  #wrong(key: string, expected: string): never {
    throw logCorrupt(this.where, `"${key}" is missing or not ${expected}`);
  }
}

/** `DELTA_LOG_CORRUPT`; `where` names the file and the place in it. */
export function logCorrupt(where: string, what: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('DELTA_LOG_CORRUPT', `${where}: ${what}`, {
    hint: 'restore the file from a copy; nothing is read past it',
    cause,
  });
}
