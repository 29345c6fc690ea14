import type { DataType } from './types.ts';

/** A type as SQL names it: `INT`, `ARRAY<STRING>`, `STRUCT<a: BIGINT NOT NULL>`. `name`: how names of members are spelled. */
export function sqlTypeName(type: DataType, name: (name: string) => string = quotedWhenNeeded): string {
  switch (type.kind) {
    case 'struct':
      return `STRUCT<${type.fields.map((field) => `${name(field.name)}: ${sqlTypeName(field.type, name)}${field.nullable ? '' : ' NOT NULL'}`).join(', ')}>`;
    case 'list':
      return `ARRAY<${sqlTypeName(type.element, name)}>`;
    case 'map':
      return `MAP<${sqlTypeName(type.key, name)}, ${sqlTypeName(type.value, name)}>`;
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    default:
      return plainNames[type.kind];
  }
}

const plainNames = {
  boolean: 'BOOLEAN',
  byte: 'TINYINT',
  short: 'SMALLINT',
  integer: 'INT',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  string: 'STRING',
  binary: 'BINARY',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
  timestamp_ntz: 'TIMESTAMP_NTZ',
  time: 'TIME',
  timestamp_ns: 'TIMESTAMP_NS',
  timestamp_ntz_ns: 'TIMESTAMP_NTZ_NS',
  variant: 'VARIANT',
  void: 'VOID',
} as const;

/** A name as types and statements have it: in backquotes where it is no plain word. */
export function quotedWhenNeeded(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}
