import { describeType } from '../../schema/describe-type.ts';
import type { DataType } from '../../schema/types.ts';
import { argument, built, type EngineCall, type FunctionTable, literalText, types } from '../function-spec.ts';
import { readDataType } from '../parse/read-type.ts';
import { TokenStream } from '../parse/token-stream.ts';
import { castSql } from '../sql/cast-sql.ts';
import { sqlText } from '../sql/engine-text.ts';
import { variantFunctions } from '../sql/variant-sql.ts';
import { bindOnce } from './bind-once.ts';
import { mismatch } from './json-functions.ts';

const variant: DataType = { kind: 'variant' };

function parseSql(call: EngineCall): string {
  return bindOnce(`CAST(${argument(call, 0)} AS VARCHAR)`, '__json', (text) =>
    bindOnce(
      `${variantFunctions.parse}(${text})`,
      '__variant',
      (parsed) =>
        `CASE WHEN ${text} IS NOT NULL AND ${parsed} IS NULL THEN error('[MALFORMED_RECORD_IN_PARSING] parse_json: text is no JSON, or names a member twice: ' || left(${text}, 200)) ELSE ${parsed} END`,
    ),
  );
}

function pathSql(call: EngineCall, name: string): string {
  requireVariant(call, name);
  const path = literalText(call.call, 1);
  if (path === undefined || !/^\$/.test(path)) throw mismatch(name, "the path must be a text literal that begins with $, such as '$.a[0]'");
  return `${variantFunctions.at}(${argument(call, 0)}, ${sqlText(path)})`;
}

/** The type that a call asks for; without one the variant itself. */
function askedType(call: EngineCall['call']): DataType {
  const text = literalText(call, 2);
  if (text === undefined) return variant;
  const stream = new TokenStream(text);
  const type = readDataType(stream);
  stream.expectEnd();
  return type;
}

function getSql(call: EngineCall, name: string, safe: boolean): string {
  return castSql(pathSql(call, name), { from: variant, to: askedType(call.call), safe, zone: call.call.zone });
}

function requireVariant(call: EngineCall, name: string): void {
  const type = call.types[0];
  if (type === undefined || type.kind === 'variant') return;
  throw mismatch(name, `The first parameter requires the "VARIANT" type, however it has the type "${describeType(type).toUpperCase()}".`);
}

function checked(name: string, sql: (value: string) => string): (call: EngineCall) => string {
  return (call) => {
    requireVariant(call, name);
    return sql(argument(call, 0));
  };
}

/** Functions of variants, with Spark's names and answers. */
export const variantFunctionTable: FunctionTable = {
  parse_json: built(1, parseSql, variant),
  try_parse_json: built(1, (call) => `${variantFunctions.parse}(CAST(${argument(call, 0)} AS VARCHAR))`, variant),
  variant_get: built(
    [2, 3],
    (call) => getSql(call, 'variant_get', false),
    (_, call) => askedType(call),
  ),
  try_variant_get: built(
    [2, 3],
    (call) => getSql(call, 'try_variant_get', true),
    (_, call) => askedType(call),
  ),
  is_variant_null: built(
    1,
    checked('is_variant_null', (value) => `coalesce(${variantFunctions.type}(${value}) = 'VOID', false)`),
    types.boolean,
  ),
  schema_of_variant: built(
    1,
    checked('schema_of_variant', (value) => `${variantFunctions.type}(${value})`),
    types.string,
  ),
};
