import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type EngineCall,
  type FunctionTable,
  literalInteger,
  literalText,
  refused,
  renamed,
  scalar,
  types,
} from '../function-spec.ts';
import { boundedArgument } from './generated-size.ts';

const many = Number.POSITIVE_INFINITY;
const blank = "' '";

function isBinary({ types: given }: EngineCall): boolean {
  return given[0]?.kind === 'binary';
}

function lengthSql(call: EngineCall): string {
  const value = argument(call, 0);
  return `CAST(${isBinary(call) ? `octet_length(${value})` : `length(CAST(${value} AS VARCHAR))`} AS INTEGER)`;
}

function octetsSql(call: EngineCall): string {
  const value = argument(call, 0);
  return `CAST(octet_length(${isBinary(call) ? value : `encode(CAST(${value} AS VARCHAR))`}) AS INTEGER)`;
}

/** Bytes of text or binary, for digests and codes. */
function bytesSql(call: EngineCall, index: number = 0): string {
  const value = argument(call, index);
  return call.types[index]?.kind === 'binary' ? value : `encode(CAST(${value} AS VARCHAR))`;
}

/** 1-based; 0 counts as 1, negative positions from the end, as in Spark. A length that reaches before the text cuts it off. */
function substringSql(call: EngineCall): string {
  const [text = 'NULL', from = 'NULL', length] = call.args;
  const start = literalInteger(call.call, 1) === 0n ? '1' : `CASE WHEN ${from} = 0 THEN 1 ELSE ${from} END`;
  if (call.types[0]?.kind === 'binary')
    return `array_slice(${text}, ${start}, ${length === undefined ? 'NULL' : `${start} + ${length} - 1`})`;
  if (length === undefined) return `substring(${text}, ${start})`;
  // A negative length would count backwards in the engine.
  return `substring(${text}, ${start}, greatest(${length}, 0))`;
}

/** A pattern that means itself is split without the regular expression engine. */
function splitSql(call: EngineCall): string {
  const text = argument(call, 0);
  const pattern = literalText(call.call, 1);
  const limit = call.args[2];
  const plain = pattern !== undefined && pattern !== '' && !/[\\^$.|?*+()[\]{}]/.test(pattern);
  const parts = plain ? `string_split(${text}, ${argument(call, 1)})` : `regexp_split_to_array(${text}, ${argument(call, 1)})`;
  if (limit === undefined || literalInteger(call.call, 2) === -1n) return parts;
  if (!plain) return `error('[UNSUPPORTED_FEATURE] split by a pattern takes no limit')`;
  const separator = argument(call, 1);
  const rest = `[array_to_string(list_slice(${parts}, ${limit}, len(${parts})), ${separator})]`;
  return `CASE WHEN ${limit} <= 0 OR len(${parts}) <= ${limit} THEN ${parts} ELSE list_concat(list_slice(${parts}, 1, ${limit} - 1), ${rest}) END`;
}

/** Text before the `count`th separator, or after it counted from the end. */
function substringIndex(text = 'NULL', separator = 'NULL', count = 'NULL'): string {
  const parts = `string_split(${text}, ${separator})`;
  return `CASE WHEN ${count} > 0 THEN array_to_string(list_slice(${parts}, 1, ${count}), ${separator}) WHEN ${count} < 0 THEN array_to_string(list_slice(${parts}, greatest(len(${parts}) + ${count} + 1, 1), len(${parts})), ${separator}) WHEN ${text} IS NULL OR ${separator} IS NULL OR ${count} IS NULL THEN NULL ELSE '' END`;
}

function sha2Sql(call: EngineCall): string {
  const bits = literalInteger(call.call, 1);
  if (bits === 0n || bits === 256n) return `sha256(${bytesSql(call)})`;
  return `error('[UNSUPPORTED_FEATURE] sha2 is computed for 256 bits only')`;
}

/** NULL when any part is; lists are joined end to end. */
function concatSql({ args }: EngineCall): string {
  return args.length === 0 ? "''" : `(${args.join(' || ')})`;
}

function concatType(given: readonly (DataType | undefined)[]): DataType | undefined {
  return given[0]?.kind === 'list' || given[0]?.kind === 'binary' ? given[0] : types.string;
}

/** Skips nulls; lists give their elements. */
function concatWithSeparator(call: EngineCall): string {
  const [separator = 'NULL', ...parts] = call.args;
  const lists = parts.map((part, index) => (call.types[index + 1]?.kind === 'list' ? part : `[CAST(${part} AS VARCHAR)]`));
  if (lists.length === 0) return `CASE WHEN ${separator} IS NOT NULL THEN '' END`;
  const all = lists.slice(1).reduce((joined, list) => `list_concat(${joined}, coalesce(${list}, []))`, `coalesce(${lists[0] ?? '[]'}, [])`);
  return `coalesce(array_to_string(list_filter(${all}, lambda "__part": "__part" IS NOT NULL), ${separator}), CASE WHEN ${separator} IS NOT NULL THEN '' END)`;
}

function hexSql(call: EngineCall): string {
  const value = argument(call, 0);
  const kind = call.types[0]?.kind;
  return kind === 'string' || kind === 'binary' ? `hex(${bytesSql(call)})` : `hex(${value})`;
}

function repeatSql(text = 'NULL', count = 'NULL'): string {
  const size = `(CAST(strlen(CAST(${text} AS VARCHAR)) AS DOUBLE) * ${count})`;
  return `repeat(${text}, ${boundedArgument('repeat', 'bytes', { sql: `greatest(${count}, 0)`, size })})`;
}

/** A number of characters, which take a byte each at least. */
function boundedCount(name: string, count = 'NULL'): string {
  return boundedArgument(name, 'bytes', { sql: count, size: count });
}

const upper = renamed('upper', 1, types.string);
const lower = renamed('lower', 1, types.string);
const length = built(1, lengthSql, types.integer);
const substring = built([2, 3], substringSql, (given) => (given[0]?.kind === 'binary' ? types.binary : types.string));
const position = scalar([2, 3], (sought, text, from?: string) => locate(text, sought, from), types.integer);
const matches = scalar(2, (text, pattern) => `regexp_matches(${text}, ${pattern})`, types.boolean);
const startsWith = renamed('starts_with', 2, types.boolean);
const endsWith = renamed('ends_with', 2, types.boolean);
const trimCharacters = (name: string): ReturnType<typeof scalar> =>
  scalar(2, (text, characters) => `${name}(${text}, ${characters})`, types.string);
const sha1 = built(1, (call) => `sha1(${bytesSql(call)})`, types.string);

function locate(text = 'NULL', sought = 'NULL', from?: string): string {
  if (from === undefined) return `CAST(instr(${text}, ${sought}) AS INTEGER)`;
  const found = `instr(substring(${text}, ${from}), ${sought})`;
  return `CAST(CASE WHEN ${from} <= 0 OR ${found} = 0 THEN 0 ELSE ${found} + ${from} - 1 END AS INTEGER)`;
}

/** Functions of text and bytes. Positions count characters from 1. */
export const stringFunctions: FunctionTable = {
  upper,
  ucase: upper,
  lower,
  lcase: lower,
  length,
  len: length,
  char_length: length,
  character_length: length,
  octet_length: built(1, octetsSql, types.integer),
  bit_length: built(1, (call) => `(${octetsSql(call)} * 8)`, types.integer),
  substring,
  substr: substring,
  left: scalar(2, (text, count) => `left(${text}, greatest(${count}, 0))`, types.string),
  right: scalar(2, (text, count) => `right(${text}, greatest(${count}, 0))`, types.string),
  trim: scalar([1, 2], (text, characters = blank) => `trim(${text}, ${characters})`, types.string),
  btrim: scalar([1, 2], (text, characters = blank) => `trim(${text}, ${characters})`, types.string),
  // With two arguments Spark takes the characters first.
  ltrim: scalar(
    [1, 2],
    (first, second?: string) => (second === undefined ? `ltrim(${first}, ${blank})` : `ltrim(${second}, ${first})`),
    types.string,
  ),
  rtrim: scalar(
    [1, 2],
    (first, second?: string) => (second === undefined ? `rtrim(${first}, ${blank})` : `rtrim(${second}, ${first})`),
    types.string,
  ),
  trim_characters: trimCharacters('trim'),
  ltrim_characters: trimCharacters('ltrim'),
  rtrim_characters: trimCharacters('rtrim'),
  lpad: scalar([2, 3], (text, count, pad = blank) => `lpad(${text}, ${boundedCount('lpad', count)}, ${pad})`, types.string),
  rpad: scalar([2, 3], (text, count, pad = blank) => `rpad(${text}, ${boundedCount('rpad', count)}, ${pad})`, types.string),
  replace: scalar([2, 3], (text, sought, other = "''") => `replace(${text}, ${sought}, ${other})`, types.string),
  translate: renamed('translate', 3, types.string),
  repeat: scalar(2, repeatSql, types.string),
  space: scalar(1, (count) => `repeat(' ', greatest(${boundedCount('space', count)}, 0))`, types.string),
  initcap: scalar(
    1,
    (text) =>
      `array_to_string(list_transform(string_split(lower(${text}), ' '), lambda "__word": upper(left("__word", 1)) || substring("__word", 2)), ' ')`,
    types.string,
  ),
  concat: built([0, many], concatSql, concatType),
  concat_ws: built([1, many], concatWithSeparator, types.string),
  split: built([2, 3], splitSql, { kind: 'list', element: types.string, elementNullable: false }),
  split_part: renamed('split_part', 3, types.string),
  substring_index: scalar(3, substringIndex, types.string),
  instr: scalar(2, locate, types.integer),
  locate: position,
  position,
  charindex: position,
  startswith: startsWith,
  starts_with: startsWith,
  endswith: endsWith,
  ends_with: endsWith,
  contains: renamed('contains', 2, types.boolean),
  rlike: matches,
  regexp: matches,
  regexp_like: matches,
  ascii: scalar(1, (text) => `CASE WHEN ${text} = '' THEN 0 ELSE unicode(${text}) END`, types.integer),
  chr: scalar(1, (code) => `CASE WHEN ${code} < 0 THEN '' ELSE chr(CAST(${code} % 256 AS INTEGER)) END`, types.string),
  char: scalar(1, (code) => `CASE WHEN ${code} < 0 THEN '' ELSE chr(CAST(${code} % 256 AS INTEGER)) END`, types.string),
  base64: built(1, (call) => `to_base64(${bytesSql(call)})`, types.string),
  unbase64: renamed('from_base64', 1, types.binary),
  hex: built(1, hexSql, types.string),
  unhex: scalar(1, (text) => `TRY(from_hex(CASE WHEN length(${text}) % 2 = 0 THEN ${text} ELSE '0' || ${text} END))`, types.binary),
  encode: scalar(2, (text) => `encode(${text})`, types.binary),
  decode: scalar(2, (bytes) => `decode(${bytes})`, types.string),
  md5: built(1, (call) => `md5(${bytesSql(call)})`, types.string),
  sha: sha1,
  sha1,
  sha2: built(2, sha2Sql, types.string),
  levenshtein: scalar(2, (left, right) => `CAST(levenshtein(${left}, ${right}) AS INTEGER)`, types.integer),
  format_string: refused('join texts with || or concat'),
  format_number: refused('cast to DECIMAL(p, s) or STRING'),
  soundex: refused('use levenshtein'),
};
