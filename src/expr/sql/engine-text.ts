import { AnalysisException } from '../../base/analysis-exception.ts';
import { assertNever } from '../../base/assert.ts';
import type { DataType, PrimitiveType } from '../../schema/types.ts';
import { variantInRelations } from '../../schema/variant-type.ts';
import type { Literal } from '../expression.ts';
import { printDecimal } from '../print-expression.ts';

/** The engine has no empty names; those that queries make (`SELECT ''`) are a control character to it, which no other has alone. */
const emptyName = '"\u0001"';

/** A name as an identifier of the engine, in double quotes. @throws AnalysisException for a name with U+0000, which no engine text can hold. */
export function quoteName(name: string): string {
  if (name === '') return emptyName;
  if (name.includes('\0')) {
    throw new AnalysisException({
      errorClass: 'INVALID_IDENTIFIER',
      message: `the name ${name.replaceAll('\0', '\\0')} holds U+0000`,
    });
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as a string literal of the engine; U+0000 is spelled as `chr(0)`. */
export function sqlText(text: string): string {
  const parts = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  return parts.length === 1 ? (parts[0] ?? "''") : `(${parts.join(' || chr(0) || ')})`;
}

/** A literal as a value of exactly its type. */
export function literalSql(literal: Literal): string {
  switch (literal.type) {
    case 'null':
      return 'NULL';
    case 'boolean':
      return literal.value ? 'true' : 'false';
    case 'integer':
      return `CAST(${literal.value} AS ${typeSql({ kind: literal.width })})`;
    case 'decimal': {
      const type = typeSql({ kind: 'decimal', precision: literal.precision, scale: literal.scale });
      return `CAST('${printDecimal(literal.unscaled, literal.scale)}' AS ${type})`;
    }
    case 'double':
    case 'float':
      return `CAST('${Object.is(literal.value, -0) ? '-0' : String(literal.value)}' AS ${typeSql({ kind: literal.type })})`;
    case 'string':
      return sqlText(literal.value);
    case 'binary':
      return `from_hex('${Array.from(literal.value, (byte) => byte.toString(16).padStart(2, '0')).join('')}')`;
    case 'date':
      return `make_date(CAST(${literal.days} AS INTEGER))`;
    case 'timestamp':
      return `make_timestamptz(${literal.micros})`;
    case 'timestamp_ntz':
      return `make_timestamp(${literal.micros})`;
    case 'interval':
      return `(to_months(${literal.months}) + to_days(${literal.days}) + to_microseconds(${literal.micros}))`;
    default:
      return assertNever(literal);
  }
}

/** The engine's type for a column type, with other names for plain types where `plain` gives them; instants are TIMESTAMP WITH TIME ZONE, those of nanoseconds TIMESTAMP_NS in UTC. */
export function typeSql(type: DataType, plain: (type: PrimitiveType) => string = plainTypeSql): string {
  switch (type.kind) {
    case 'list':
      return `${typeSql(type.element, plain)}[]`;
    case 'map':
      return `MAP(${typeSql(type.key, plain)}, ${typeSql(type.value, plain)})`;
    case 'struct':
      return `STRUCT(${type.fields.map((field) => `${quoteName(field.name)} ${typeSql(field.type, plain)}`).join(', ')})`;
    default:
      return plain(type);
  }
}

function plainTypeSql(type: PrimitiveType): string {
  switch (type.kind) {
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'variant':
      return typeSql(variantInRelations);
    default:
      return plainTypes[type.kind];
  }
}

const plainTypes = {
  boolean: 'BOOLEAN',
  byte: 'TINYINT',
  short: 'SMALLINT',
  integer: 'INTEGER',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  string: 'VARCHAR',
  binary: 'BLOB',
  date: 'DATE',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
  timestamp_ntz: 'TIMESTAMP',
  time: 'TIME',
  timestamp_ns: 'TIMESTAMP_NS',
  timestamp_ntz_ns: 'TIMESTAMP_NS',
  void: 'VARCHAR',
} as const;

/** A member of a struct column: `path` from the column's own name down. `relation` is the engine's name of the relation, quoted. */
export function columnPathSql(path: readonly string[], relation?: string): string {
  const [name = '', ...members] = path;
  const column = relation === undefined ? quoteName(name) : `${relation}.${quoteName(name)}`;
  return members.reduce((sql, member) => `struct_extract(${sql}, ${sqlText(member)})`, column);
}
