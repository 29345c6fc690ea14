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
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`;
    case 'string':
      return type.format ?? 'string';
    case 'binary':
      return type.fixedLength === undefined ? 'binary' : `fixed[${type.fixedLength}]`;
    default:
      return namesByKind[type.kind];
  }
}

const namesByKind = {
  boolean: 'boolean',
  byte: 'int',
  short: 'int',
  integer: 'int',
  long: 'long',
  float: 'float',
  double: 'double',
  date: 'date',
  time: 'time',
  timestamp: 'timestamptz',
  timestamp_ntz: 'timestamp',
  timestamp_ns: 'timestamptz_ns',
  timestamp_ntz_ns: 'timestamp_ns',
  void: 'unknown',
  variant: 'variant',
} as const;
const maxPrecision = 38;
const decimalText = /^decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)$/;
const fixedText = /^fixed\[\s*(\d{1,9})\s*\]$/;
const typesByName: ReadonlyMap<string, PrimitiveType> = new Map<string, PrimitiveType>([
  // `int` is the type of the last of its kinds.
  ...Object.entries(namesByKind).map(([kind, name]) => [name, { kind: kind as keyof typeof namesByKind }] as const),
  ['string', { kind: 'string' }],
  ['uuid', { kind: 'string', format: 'uuid' }],
  ['binary', { kind: 'binary' }],
]);
