import { ServiceError } from '../base/errors.ts';
import { plainTypes } from '../expr/parse/read-type.ts';
import type { DataType, Field } from '../schema/types.ts';

const maxDepth = 32;
const maxPrecision = 38;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedIdentifier = /`((?:[^`]|``)+)`/y;
const digits = /\d{1,3}/y;
const blanks = /\s*/y;

/** Spellings of SQL, Spark and the JSON schema of Delta; no topic's records have a type for the two left out. */
const primitives: ReadonlyMap<string, DataType> = new Map(
  [...plainTypes].filter(([, { kind }]) => kind !== 'variant' && kind !== 'void').map(([word, type]) => [word.toLowerCase(), type]),
);

/**
 * Reads a column type: `long`, `decimal(12,2)`, `array<string not null>`, `map<string,long>`,
 * ``struct<street:string,`zip code`:string not null>``. Words are the same in upper and lower case; names are not.
 *
 * @throws ServiceError `COLUMN_TYPE_INVALID` (kind invalid) with the position of the first character that does not fit.
 */
export function parseColumnType(text: string): DataType {
  const parser = new TypeParser(text);
  const type = parser.type(0);
  parser.end();
  return type;
}

/** The inverse of `parseColumnType`. */
export function printColumnType(type: DataType): string {
  switch (type.kind) {
    case 'struct':
      return `struct<${type.fields.map(printField).join(',')}>`;
    case 'list':
      return `array<${printColumnType(type.element)}${printRequired(type.elementNullable)}>`;
    case 'map':
      return `map<${printColumnType(type.key)},${printColumnType(type.value)}${printRequired(type.valueNullable)}>`;
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    default:
      return type.kind;
  }
}

function printField(field: Field): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(field.name);
  const name = plain ? field.name : `\`${field.name.replaceAll('`', '``')}\``;
  return `${name}:${printColumnType(field.type)}${printRequired(field.nullable)}`;
}

function printRequired(nullable: boolean): string {
  return nullable ? '' : ' not null';
}

class TypeParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  type(depth: number): DataType {
    if (depth > maxDepth) return this.#fail(`is nested deeper than ${maxDepth}`);
    const start = this.#at;
    const word = this.#take(identifier)?.toLowerCase();
    switch (word) {
      case undefined:
        return this.#fail('a type is expected');
      case 'decimal':
      case 'numeric':
        return this.#decimal();
      case 'array':
        return this.#array(depth);
      case 'map':
        return this.#map(depth);
      case 'struct':
        return this.#struct(depth);
      default:
        return primitives.get(word) ?? this.#fail(`"${word}" is no type`, start);
    }
  }

  end(): void {
    this.#skipBlanks();
    if (this.#at < this.#text.length) this.#fail('nothing more is expected');
  }

  #decimal(): DataType {
    if (!this.#accept('(')) return { kind: 'decimal', precision: 10, scale: 0 };
    const precisionAt = this.#at;
    const precision = this.#number();
    const scale = this.#accept(',') ? this.#number() : 0;
    this.#expect(')');
    if (precision < 1 || precision > maxPrecision) return this.#fail(`a precision from 1 to ${maxPrecision} is expected`, precisionAt);
    if (scale > precision) return this.#fail(`the scale ${scale} exceeds the precision ${precision}`, precisionAt);
    return { kind: 'decimal', precision, scale };
  }

  #array(depth: number): DataType {
    this.#expect('<');
    const element = this.type(depth + 1);
    const elementNullable = this.#nullable();
    this.#expect('>');
    return { kind: 'list', element, elementNullable };
  }

  #map(depth: number): DataType {
    this.#expect('<');
    const key = this.type(depth + 1);
    this.#expect(',');
    const value = this.type(depth + 1);
    const valueNullable = this.#nullable();
    this.#expect('>');
    return { kind: 'map', key, value, valueNullable };
  }

  #struct(depth: number): DataType {
    this.#expect('<');
    const fields: Field[] = [];
    do {
      const nameAt = this.#at;
      const name = this.#fieldName();
      if (fields.some((field) => field.name.toLowerCase() === name.toLowerCase())) this.#fail(`a second field "${name}"`, nameAt);
      // Spark's DDL separates name and type by a blank, its type strings by a colon.
      this.#accept(':');
      const type = this.type(depth + 1);
      fields.push({ name, type, nullable: this.#nullable() });
    } while (this.#accept(','));
    this.#expect('>');
    return { kind: 'struct', fields };
  }

  #fieldName(): string {
    this.#skipBlanks();
    quotedIdentifier.lastIndex = this.#at;
    const quoted = quotedIdentifier.exec(this.#text);
    if (quoted === null) return this.#take(identifier) ?? this.#fail('a field name is expected');
    this.#at = quotedIdentifier.lastIndex;
    return (quoted[1] ?? '').replaceAll('``', '`');
  }

  #nullable(): boolean {
    const required = /\s+not\s+null\b/iy;
    required.lastIndex = this.#at;
    if (required.exec(this.#text) === null) return true;
    this.#at = required.lastIndex;
    return false;
  }

  #number(): number {
    return Number(this.#take(digits) ?? this.#fail('a number is expected'));
  }

  #expect(symbol: string): void {
    if (!this.#accept(symbol)) this.#fail(`"${symbol}" is expected`);
  }

  #accept(symbol: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== symbol) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    this.#skipBlanks();
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match[0];
  }

  #skipBlanks(): void {
    blanks.lastIndex = this.#at;
    blanks.exec(this.#text);
    this.#at = blanks.lastIndex;
  }

  #fail(problem: string, at = this.#at): never {
    throw new ServiceError({
      code: 'COLUMN_TYPE_INVALID',
      kind: 'invalid',
      message: `column type "${this.#text}": at character ${at + 1}: ${problem}`,
      hint: `types are ${[...new Set([...primitives.values()].map((type) => type.kind))].join(', ')}, decimal(p,s), array<…>, map<…,…>, struct<name:type,…>`,
    });
  }
}
