import { AnalysisException } from '../../base/analysis-exception.ts';
import { withoutLengths } from '../../schema/declared-length.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { TokenStream } from './token-stream.ts';

/** Types nest at most this deep. */
const maxTypeDepth = 100;
const maxPrecision = 38;
const defaultDecimal: DataType = { kind: 'decimal', precision: 10, scale: 0 };

/** Types that a word alone names, in capitals. */
export const plainTypes: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ['BOOLEAN', { kind: 'boolean' }],
  ['TINYINT', { kind: 'byte' }],
  ['BYTE', { kind: 'byte' }],
  ['SMALLINT', { kind: 'short' }],
  ['SHORT', { kind: 'short' }],
  ['INT', { kind: 'integer' }],
  ['INTEGER', { kind: 'integer' }],
  ['BIGINT', { kind: 'long' }],
  ['LONG', { kind: 'long' }],
  ['FLOAT', { kind: 'float' }],
  ['REAL', { kind: 'float' }],
  ['DOUBLE', { kind: 'double' }],
  ['STRING', { kind: 'string' }],
  ['BINARY', { kind: 'binary' }],
  ['DATE', { kind: 'date' }],
  ['TIMESTAMP', { kind: 'timestamp' }],
  ['TIMESTAMP_LTZ', { kind: 'timestamp' }],
  ['TIMESTAMP_NTZ', { kind: 'timestamp_ntz' }],
  ['TIME', { kind: 'time' }],
  ['TIMESTAMP_NS', { kind: 'timestamp_ns' }],
  ['TIMESTAMP_NTZ_NS', { kind: 'timestamp_ntz_ns' }],
  ['VARIANT', { kind: 'variant' }],
  ['VOID', { kind: 'void' }],
]);
const otherTypes = ['DECIMAL', 'DEC', 'NUMERIC', 'CHAR', 'CHARACTER', 'VARCHAR', 'ARRAY', 'MAP', 'STRUCT'];

/** The type at the stream's place, in Spark's words. @throws ParseException, AnalysisException as `parseDataType`. */
export function readDataType(stream: TokenStream): DataType {
  return withoutLengths(readDeclaredType(stream));
}

/** As `readDataType`; text that is declared with a length has it. */
export function readDeclaredType(stream: TokenStream, depth: number = 0): DataType {
  const token = stream.peek();
  if (depth > maxTypeDepth) throw stream.unexpected(`types nested at most ${maxTypeDepth} deep`);
  if (token.kind !== 'word') throw stream.unexpected('a type');
  const name = token.value.toUpperCase();
  stream.next();
  switch (name) {
    case 'DECIMAL':
    case 'DEC':
    case 'NUMERIC':
      return readDecimal(stream);
    case 'CHAR':
    case 'CHARACTER':
      return readText(stream, 'char');
    case 'VARCHAR':
      return readText(stream, 'varchar');
    case 'DOUBLE':
      stream.takeWords('PRECISION');
      return { kind: 'double' };
    case 'STRING':
      if (stream.takeWords('COLLATE')) readBinaryCollation(stream);
      return { kind: 'string' };
    case 'ARRAY':
      return readArray(stream, depth);
    case 'MAP':
      return readMap(stream, depth);
    case 'STRUCT':
      return { kind: 'struct', fields: readMembers(stream, depth) };
    default: {
      const type = plainTypes.get(name);
      if (type !== undefined) return type;
      const known = stream.unexpectedAt(token, ...plainTypes.keys(), ...otherTypes);
      throw new AnalysisException({
        errorClass: 'UNSUPPORTED_DATATYPE',
        message: `Unsupported data type "${name}" (line ${token.position.line}, column ${token.position.column}).`,
        hint:
          known.hint ?? 'use one of BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p,s), STRING, BINARY, DATE, TIMESTAMP',
        parameters: { typeName: name },
      });
    }
  }
}

function readDecimal(stream: TokenStream): DataType {
  if (!stream.takeOperator('(')) return defaultDecimal;
  const precision = readCount(stream, 'a precision');
  const scale = stream.takeOperator(',') ? readCount(stream, 'a scale') : 0;
  stream.expectOperator(')');
  if (precision > maxPrecision) {
    throw new AnalysisException({
      errorClass: 'DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION',
      message: `Decimal precision ${precision} exceeds max precision ${maxPrecision}.`,
      parameters: { precision: String(precision), maxPrecision: String(maxPrecision) },
    });
  }
  if (precision < 1 || scale > precision) throw stream.unexpectedAt(stream.peek(-1), `a scale of at most ${precision}`);
  return { kind: 'decimal', precision, scale };
}

function readText(stream: TokenStream, kind: 'char' | 'varchar'): DataType {
  if (!stream.takeOperator('(')) {
    const type = kind.toUpperCase();
    throw new AnalysisException({
      errorClass: 'DATATYPE_MISSING_SIZE',
      message: `DataType "${type}" requires a length parameter, for example "${type}"(10). Please specify the length.`,
      parameters: { type: `"${type}"` },
    });
  }
  const characters = readCount(stream, 'a length');
  stream.expectOperator(')');
  return { kind: 'string', length: { kind, characters } };
}

function readBinaryCollation(stream: TokenStream): void {
  const token = stream.peek();
  const collation = stream.expectName('a collation').toUpperCase();
  if (collation !== 'UTF8_BINARY') throw stream.unexpectedAt(token, 'UTF8_BINARY');
}

function readCount(stream: TokenStream, what: string): number {
  const token = stream.peek();
  if (token.kind !== 'number' || !/^\d{1,9}$/.test(token.value)) throw stream.unexpected(what);
  return Number(stream.next().value);
}

function readArray(stream: TokenStream, depth: number): DataType {
  stream.expectOperator('<');
  const element = readDeclaredType(stream, depth + 1);
  const elementNullable = !stream.takeWords('NOT', 'NULL');
  stream.expectOperator('>');
  return { kind: 'list', element, elementNullable };
}

function readMap(stream: TokenStream, depth: number): DataType {
  stream.expectOperator('<');
  const key = readDeclaredType(stream, depth + 1);
  stream.expectOperator(',');
  const value = readDeclaredType(stream, depth + 1);
  const valueNullable = !stream.takeWords('NOT', 'NULL');
  stream.expectOperator('>');
  return { kind: 'map', key, value, valueNullable };
}

function readMembers(stream: TokenStream, depth: number): readonly Field[] {
  // `STRUCT<>` is lexed as one operator.
  if (stream.takeOperator('<>')) return [];
  stream.expectOperator('<');
  if (stream.takeOperator('>')) return [];
  const fields = stream.list(() => readMember(stream, depth));
  stream.expectOperator('>');
  return fields;
}

function readMember(stream: TokenStream, depth: number): Field {
  const name = stream.expectName('a member name');
  stream.takeOperator(':');
  const type = readDeclaredType(stream, depth + 1);
  const nullable = !stream.takeWords('NOT', 'NULL');
  const comment = stream.takeWords('COMMENT') ? stream.expectString('a comment') : undefined;
  return { name, type, nullable, ...(comment === undefined ? {} : { metadata: { comment } }) };
}
