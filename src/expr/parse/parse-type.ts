import type { DataType, StructType } from '../../schema/types.ts';
import { readColumnDefinition } from './column-definition.ts';
import { ExpressionParser } from './parse-expression.ts';
import { readDataType, readDeclaredType } from './read-type.ts';
import { TokenStream } from './token-stream.ts';

/**
 * A type in Spark's words: `INT`, `DECIMAL(10, 2)`, `STRUCT<a: INT NOT NULL, b: ARRAY<STRING>>`. CHAR and VARCHAR are strings;
 * `parseDeclaredType` tells their lengths.
 *
 * @throws ParseException `UNSUPPORTED_DATATYPE` 0A000 naming the nearest type, `PARSE_SYNTAX_ERROR`.
 */
export function parseDataType(text: string): DataType {
  const stream = new TokenStream(text);
  const type = readDataType(stream);
  stream.expectEnd();
  return type;
}

/** As `parseDataType`; text that is declared with a length has it. */
export function parseDeclaredType(text: string): DataType {
  const stream = new TokenStream(text);
  const type = readDeclaredType(stream);
  stream.expectEnd();
  return type;
}

/**
 * Columns as in CREATE TABLE: `id BIGINT NOT NULL COMMENT 'key', v STRING DEFAULT 'x', d DATE GENERATED ALWAYS AS (CAST(ts AS DATE))`.
 * Comment, default, generation and identity become field metadata with Delta's keys. Column names in `struct<…>` form are accepted too.
 *
 * @throws ParseException, AnalysisException as `parseDataType`.
 */
export function parseSchema(text: string): StructType {
  const stream = new TokenStream(text);
  if (stream.atWords('STRUCT') && stream.atOperator('<', 1)) {
    const type = readDataType(stream);
    stream.expectEnd();
    if (type.kind === 'struct') return type;
  }
  const parser = new ExpressionParser(stream);
  const fields = stream.atEnd ? [] : stream.list(() => readColumnDefinition(stream, parser));
  stream.expectEnd("','");
  return { kind: 'struct', fields };
}
