import { assertNever } from '../../base/assert.ts';
import type { PrimitiveType } from '../../schema/types.ts';

/**
 * The type that a text of the specification names (https://iceberg.apache.org/spec/#primitive-types); `undefined` for one that this version
 * does not know. Instants are `timestamptz`: the product's `timestamp`.
 */
export function icebergTypeOf(text: string): PrimitiveType | undefined {
  const lower = text.toLowerCase();
  const plain = typesByName.get(lower);
  if (plain !== undefined) return plain;
  const [, precision, scale] = decimalText.exec(lower) ?? [];
  if (precision !== undefined) {
    const type = { kind: 'decimal', precision: Number(precision), scale: Number(scale) } as const;
    return type.precision >= 1 && type.precision <= maxPrecision && type.scale <= type.precision ? type : undefined;
  }
  const [, length] = fixedText.exec(lower) ?? [];
  return length === undefined ? undefined : { kind: 'binary', fixedLength: Number(length) };
}

/** The specification's text of a type. Integers of 8 and 16 bits, which it does not have, are `int`. */
export function icebergTypeText(type: PrimitiveType): string {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
      return 'int';
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`;
    case 'string':
      return type.format ?? 'string';
    case 'binary':
      return type.fixedLength === undefined ? 'binary' : `fixed[${type.fixedLength}]`;
    case 'timestamp':
      return 'timestamptz';
    case 'timestamp_ntz':
      return 'timestamp';
    case 'timestamp_ns':
      return 'timestamptz_ns';
    case 'timestamp_ntz_ns':
      return 'timestamp_ns';
    case 'void':
      return 'unknown';
    case 'variant':
    case 'boolean':
    case 'long':
    case 'float':
    case 'double':
    case 'date':
    case 'time':
      return type.kind;
    default:
      return assertNever(type);
  }
}

const maxPrecision = 38;
const decimalText = /^decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)$/;
const fixedText = /^fixed\[\s*(\d{1,9})\s*\]$/;
const typesByName: ReadonlyMap<string, PrimitiveType> = new Map<string, PrimitiveType>([
  ['boolean', { kind: 'boolean' }],
  ['int', { kind: 'integer' }],
  ['long', { kind: 'long' }],
  ['float', { kind: 'float' }],
  ['double', { kind: 'double' }],
  ['date', { kind: 'date' }],
  ['time', { kind: 'time' }],
  ['timestamp', { kind: 'timestamp_ntz' }],
  ['timestamptz', { kind: 'timestamp' }],
  ['timestamp_ns', { kind: 'timestamp_ntz_ns' }],
  ['timestamptz_ns', { kind: 'timestamp_ns' }],
  ['string', { kind: 'string' }],
  ['uuid', { kind: 'string', format: 'uuid' }],
  ['binary', { kind: 'binary' }],
  ['unknown', { kind: 'void' }],
  ['variant', { kind: 'variant' }],
]);
