import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  literalText,
  many,
  scalar,
  types,
} from '../function-spec.ts';
import { isIntegral, isNumeric } from '../sql/cast-sql.ts';
import { textFunctions } from '../sql/text-functions.ts';
import { boundedArgument } from './generated-size.ts';
import { asText } from './local-time.ts';

const unit = 'chr(31)';

/** A letter for the kind, as `engine/formatted-text` reads it, the value, and the end of it. */
function packed(engineCall: EngineCall): string {
  const { args, types: given } = engineCall;
  const parts = args.slice(1).map((value, index) => {
    const type = given[index + 1];
    const kind = type === undefined ? 's' : isIntegral(type) ? 'i' : isNumeric(type) ? 'd' : type.kind === 'boolean' ? 'b' : 's';
    return `coalesce('${kind}' || CAST(${type?.kind === 'binary' ? value : asText(engineCall, index + 1)} AS VARCHAR), 'n') || ${unit}`;
  });
  return parts.length === 0 ? "''" : `(${parts.join(' || ')})`;
}

const formatted = built(
  [1, many],
  (call) => `${textFunctions.formatText}(CAST(${argument(call, 0)} AS VARCHAR), ${packed(call)})`,
  types.string,
);

function binarySql(call: EngineCall): string {
  const text = `CAST(${asText(call, 0)} AS VARCHAR)`;
  switch (call.args[1] === undefined ? 'hex' : literalText(call.call, 1)?.toLowerCase()) {
    case 'utf-8':
    case 'utf8':
      return `encode(${text})`;
    case 'base64':
      return `from_base64(${text})`;
    case 'hex':
      return `unhex(CASE WHEN length(${text}) % 2 = 1 THEN '0' ELSE '' END || ${text})`;
    default:
      return `error('[INVALID_PARAMETER_VALUE.BINARY_FORMAT] the format of bytes is one of hex, utf-8 and base64')`;
  }
}

function decodeSql(value: string): string {
  const wrong = `error('[CANNOT_DECODE_URL] The provided URL cannot be decoded: ' || ${value} || '. Please ensure that the URL is properly formatted and try again.')`;
  return `CASE WHEN ${value} IS NOT NULL THEN coalesce(${textFunctions.urlDecode}(${value}), ${wrong}) END`;
}

/** NULL leaves characters as they are; what is left out stands for them. */
function maskSql(value: string, ...by: readonly string[]): string {
  const characters = ["'X'", "'x'", "'n'", "''"].map((otherwise, index) => `coalesce(${by[index] ?? otherwise}, '')`);
  return `${textFunctions.mask}(${value}, ${characters.join(', ')})`;
}

/** Text is UTF-8; bytes are where they can be read as it. */
function utf8(of: (read: string, value: string) => string, type: DataType = types.string): FunctionSpec {
  const sql = (call: EngineCall): string => {
    const value = argument(call, 0);
    return of(call.types[0]?.kind === 'binary' ? `TRY(decode(${value}))` : value, value);
  };
  return built(['text'], sql, type);
}

function replacedSql(call: EngineCall): string {
  return call.types[0]?.kind === 'binary' ? `${textFunctions.lenient}(${argument(call, 0)})` : argument(call, 0);
}

const parsedUrl = scalar(
  ['ownText', 'ownText', 'ownText?'],
  (url, part, key?: string) =>
    key === undefined ? `${textFunctions.urlPart}(${url}, ${part})` : `${textFunctions.urlValue}(${url}, ${part}, ${key})`,
  types.string,
);

/** Texts in codes and formats. */
export const codeFunctions: FunctionTable = {
  conv: scalar(
    ['string', 'integer', 'integer'],
    (text, from, to) => `${textFunctions.conv}(${text}, CAST(${from} AS VARCHAR), CAST(${to} AS VARCHAR))`,
    types.string,
  ),
  // A FLOAT is one of the DOUBLEs.
  format_number: built(
    ['ownNumber', 'days'],
    (call) => {
      const value = call.types[0]?.kind === 'float' ? `CAST(${argument(call, 0)} AS DOUBLE)` : argument(call, 0);
      const places = boundedArgument('format_number', 'bytes', { sql: argument(call, 1), size: argument(call, 1) });
      return `${textFunctions.formatNumber}(CAST(${value} AS VARCHAR), CAST(${places} AS VARCHAR))`;
    },
    types.string,
  ),
  format_string: formatted,
  printf: formatted,
  luhn_check: scalar(['string'], (text) => `(${textFunctions.luhn}(${text}) = 1)`, types.boolean),
  mask: scalar(['ownText', 'ownText?', 'ownText?', 'ownText?', 'ownText?'], (text = 'NULL', ...by) => maskSql(text, ...by), types.string),
  quote: scalar(['string'], (text) => `('''' || replace(${text}, '''', '\\''') || '''')`, types.string),
  to_binary: built(
    [1, 2],
    (call) => {
      const text = argument(call, 0);
      const wrong = `error('[CONVERSION_INVALID_INPUT] The value ' || ${text} || ' cannot be converted to "BINARY" because it is malformed.')`;
      return `CASE WHEN ${text} IS NOT NULL THEN coalesce(TRY(${binarySql(call)}), ${wrong}) END`;
    },
    types.binary,
  ),
  try_to_binary: built([1, 2], (call) => `TRY(${binarySql(call)})`, types.binary),
  is_valid_utf8: utf8((read, value) => `CASE WHEN ${value} IS NOT NULL THEN ${read} IS NOT NULL END`, types.boolean),
  make_valid_utf8: built(['text'], replacedSql, types.string),
  try_validate_utf8: utf8((read) => read),
  validate_utf8: utf8((read, value) => {
    const wrong = `error('[INVALID_UTF8_STRING] Invalid UTF8 byte sequence found in string: ' || hex(${value}) || '.')`;
    return `CASE WHEN ${value} IS NOT NULL AND ${read} IS NULL THEN ${wrong} ELSE ${read} END`;
  }),
  url_encode: scalar(['string'], (text) => `${textFunctions.urlEncode}(${text})`, types.string),
  url_decode: scalar(['string'], (text = 'NULL') => decodeSql(text), types.string),
  try_url_decode: scalar(['string'], (text) => `${textFunctions.urlDecode}(${text})`, types.string),
  parse_url: parsedUrl,
  try_parse_url: parsedUrl,
};
