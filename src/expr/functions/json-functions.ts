import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionTable,
  literalText,
  refused,
  scalar,
  types,
} from '../function-spec.ts';
import { readDataType } from '../parse/read-type.ts';
import { TokenStream } from '../parse/token-stream.ts';
import { jsonPathSql } from './json-path.ts';
import { jsonTextSql } from './json-text.ts';
import { jsonValueSql } from './json-value.ts';

type NestedType = Extract<DataType, { kind: 'struct' | 'list' | 'map' }>;

function toJsonSql(call: EngineCall): string {
  const type = call.types[0];
  if (type === undefined) {
    throw mismatch('to_json', 'the type of the value is not known here', 'cast it: to_json(CAST(value AS STRUCT<…>))');
  }
  if (!isNested(type) && type.kind !== 'variant') throw wrongSchema('to_json', type);
  return jsonTextSql(argument(call, 0), type, call.call.zone);
}

function fromJsonSql(call: EngineCall): string {
  const given = call.types[0];
  if (given !== undefined && given.kind !== 'string') {
    throw mismatch(
      'from_json',
      `The first parameter requires the "STRING" type, however it has the type "${describeType(given).toUpperCase()}".`,
    );
  }
  return jsonValueSql(`CAST(${argument(call, 0)} AS VARCHAR)`, schemaOf(call.call), call.call.zone);
}

/** A type, or the columns of a struct: `a INT, b ARRAY<STRING>`. @throws ParseException, AnalysisException. */
function schemaOf(call: CallExpression): NestedType {
  const text = literalText(call, 1);
  if (text === undefined) {
    throw mismatch('from_json', 'the schema must be a text literal', "write it down: from_json(text, 'a INT, b ARRAY<STRING>')");
  }
  const type = typeIn(text) ?? typeIn(`STRUCT<${text}>`, true);
  if (type === undefined || !isNested(type)) throw wrongSchema('from_json', type);
  return type.kind === 'struct' ? allNullable(type) : type;
}

function typeIn(text: string, strict: boolean = false): DataType | undefined {
  try {
    const stream = new TokenStream(text);
    const type = readDataType(stream);
    stream.expectEnd();
    return type;
  } catch (error) {
    if (strict || !(error instanceof AnalysisException)) throw error;
    return undefined;
  }
}

function allNullable(type: Extract<DataType, { kind: 'struct' }>): NestedType {
  return { kind: 'struct', fields: type.fields.map((field) => ({ ...field, nullable: true })) };
}

function isNested(type: DataType): type is NestedType {
  return type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
}

function objectSql(call: EngineCall): string {
  const path = literalText(call.call, 1);
  if (path === undefined)
    throw mismatch('get_json_object', 'the path must be a text literal', "write it down: get_json_object(text, '$.a.b')");
  return jsonPathSql(argument(call, 0), path);
}

function lengthSql(text = 'NULL'): string {
  return `CASE WHEN json_valid(${text}) AND json_type(${text}) = 'ARRAY' THEN CAST(json_array_length(${text}) AS INTEGER) END`;
}

function keysSql(text = 'NULL'): string {
  return `CASE WHEN json_valid(${text}) AND json_type(${text}) = 'OBJECT' THEN json_keys(${text}) END`;
}

function wrongSchema(name: string, type: DataType | undefined): AnalysisException {
  const shown = type === undefined ? 'unknown' : describeType(type).toUpperCase();
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.INVALID_JSON_SCHEMA',
    message: `Cannot resolve "${name}" due to data type mismatch: Input schema "${shown}" must be a struct, an array or a map.`,
    parameters: { sqlExpr: name, schema: shown },
  });
}

/** `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` of a call. */
export function mismatch(name: string, reason: string, hint?: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE',
    message: `Cannot resolve "${name}" due to data type mismatch: ${reason}`,
    hint,
    parameters: { sqlExpr: name },
  });
}

/** Functions of JSON text. JSON is taken strictly: names and texts in double quotes, nothing after the value. */
export const jsonFunctions: FunctionTable = {
  to_json: built(1, toJsonSql, types.string),
  from_json: built(2, fromJsonSql, (_, call) => schemaOf(call)),
  get_json_object: built(2, objectSql, types.string),
  json_array_length: scalar(1, lengthSql, types.integer),
  json_object_keys: scalar(1, keysSql, { kind: 'list', element: types.string, elementNullable: true }),
  schema_of_json: refused('it would read one text to know the type of all; write the schema down'),
  to_csv: refused('join texts with concat_ws'),
  from_csv: refused('read files with session.read.csv, or take parts with split'),
  json_tuple: refused(
    'its names are text literals without quotes, and it stands alone in a select list or in LATERAL VIEW; use get_json_object',
  ),
};
