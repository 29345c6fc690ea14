import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  literalInteger,
  literalText,
  many,
  renamed,
  scalar,
  shownAs,
  types,
} from '../function-spec.ts';
import { castSql, isNumeric } from '../sql/cast-sql.ts';
import { comparedOperands } from '../sql/compared-operands.ts';
import { comparisonSql, type TypedSql } from '../sql/operator-sql.ts';
import { textFunctions } from '../sql/text-functions.ts';
import { bindOnce } from './bind-once.ts';
import { commonArgument, commonOf, isSame, widened } from './common-argument.ts';
import { boundedArgument } from './generated-size.ts';
import { asText, textsSql } from './local-time.ts';

const blank = "' '";

function isBinary({ types: given }: EngineCall): boolean {
  return given[0]?.kind === 'binary';
}

/** Zero in the place of what is below; NULL stays NULL. */
function notNegative(count = 'NULL'): string {
  return `CASE WHEN ${count} < 0 THEN 0 ELSE ${count} END`;
}

function lengthSql(call: EngineCall): string {
  const value = argument(call, 0);
  return `CAST(${isBinary(call) ? `octet_length(${value})` : `length(CAST(${asText(call, 0)} AS VARCHAR))`} AS INTEGER)`;
}

function octetsSql(call: EngineCall): string {
  const value = argument(call, 0);
  return `CAST(octet_length(${isBinary(call) ? value : `encode(CAST(${value} AS VARCHAR))`}) AS INTEGER)`;
}

/** Bytes of text or binary, for digests and codes. */
function bytesSql(call: EngineCall, index: number = 0): string {
  const value = argument(call, index);
  return call.types[index]?.kind === 'binary' ? value : `encode(CAST(${asText(call, index)} AS VARCHAR))`;
}

/** 1-based; 0 counts as 1, negative positions from the end, as in Spark. A length that reaches before the text cuts it off. */
function substringSql(call: EngineCall): string {
  const [text = 'NULL', from = 'NULL', length] = call.args;
  const start = literalInteger(call.call, 1) === 0n ? '1' : `CASE WHEN ${from} = 0 THEN 1 ELSE ${from} END`;
  if (call.types[0]?.kind === 'binary') {
    if (length === undefined) return `array_slice(${text}, ${start}, octet_length(${text}))`;
    const end = `CASE WHEN ${from} < 0 AND ${from} + ${length} >= 0 THEN octet_length(${text}) ELSE ${start} + ${length} - 1 END`;
    return `CASE WHEN ${from} IS NULL THEN NULL WHEN ${length} <= 0 THEN CAST('' AS BLOB) WHEN ${length} > 0 THEN array_slice(${text}, ${start}, ${end}) END`;
  }
  if (length === undefined) return `substring(${text}, ${start})`;
  // A negative length would count backwards in the engine.
  return `substring(${text}, ${start}, ${notNegative(length)})`;
}

/** A pattern that means itself is split without the regular expression engine. */
function splitSql(call: EngineCall): string {
  const text = argument(call, 0);
  const pattern = literalText(call.call, 1);
  const limit = call.args[2];
  const plain = pattern !== undefined && pattern !== '' && !/[\\^$.|?*+()[\]{}]/.test(pattern);
  const parts = plain ? `string_split(${text}, ${argument(call, 1)})` : partsSql(call, pattern);
  if (limit === undefined || literalInteger(call.call, 2) === -1n) return parts;
  if (!plain) return limitedParts(call, parts, limit);
  const separator = argument(call, 1);
  const rest = `[array_to_string(list_slice(${parts}, ${limit}, len(${parts})), ${separator})]`;
  return `CASE WHEN ${text} IS NULL OR ${limit} IS NULL THEN NULL WHEN ${limit} <= 0 OR len(${parts}) <= ${limit} THEN ${parts} ELSE list_concat(list_slice(${parts}, 1, ${limit} - 1), ${rest}) END`;
}

/** The engine looks for a pattern's beginning of the text in each part anew. */
function partsSql(call: EngineCall, pattern: string | undefined): string {
  const [text, by] = [argument(call, 0), argument(call, 1)];
  const split = `regexp_split_to_array(${text}, ${by})`;
  if (pattern?.startsWith('^') !== true || pattern.includes('|')) return `CASE WHEN ${by} IS NOT NULL THEN ${split} END`;
  return bindOnce(
    `length(regexp_extract(${text}, ${by}))`,
    '__first',
    (first) => `CASE WHEN ${text} IS NULL THEN NULL WHEN ${first} > 0 THEN ['', substring(${text}, ${first} + 1)] ELSE [${text}] END`,
  );
}

/** The last part is what stands behind those before it and the matches between them. */
function limitedParts(call: EngineCall, parts: string, limit: string): string {
  const [text, by] = [argument(call, 0), argument(call, 1)];
  return bindOnce(parts, '__parts', (all) => {
    const taken = `list_slice(${all}, 1, ${limit} - 1)`;
    const passed = `list_concat(${taken}, list_slice(regexp_extract_all(${text}, ${by}), 1, ${limit} - 1))`;
    const rest = `substring(${text}, length(array_to_string(${passed}, '')) + 1)`;
    return `CASE WHEN ${limit} IS NULL OR ${all} IS NULL THEN NULL WHEN ${limit} <= 0 OR len(${all}) <= ${limit} THEN ${all} ELSE list_append(${taken}, ${rest}) END`;
  });
}

/** An empty separator parts nothing. */
function splitPart(text = 'NULL', separator = 'NULL', part = 'NULL'): string {
  const zero = `error('[INVALID_INDEX_OF_ZERO] The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).')`;
  return `CASE WHEN ${part} = 0 THEN ${zero} WHEN ${separator} = '' THEN CASE WHEN abs(${part}) = 1 THEN ${text} WHEN ${text} IS NOT NULL THEN '' END ELSE split_part(${text}, ${separator}, ${part}) END`;
}

/** Text before the `count`th separator, or after it counted from the end. */
function substringIndex(text = 'NULL', separator = 'NULL', count = 'NULL'): string {
  const parts = `string_split(${text}, ${separator})`;
  return `CASE WHEN ${separator} IS NULL THEN NULL WHEN ${separator} = '' THEN CASE WHEN ${text} IS NOT NULL AND ${count} IS NOT NULL THEN '' END WHEN ${count} > 0 THEN array_to_string(list_slice(${parts}, 1, ${count}), ${separator}) WHEN ${count} < 0 THEN array_to_string(list_slice(${parts}, greatest(len(${parts}) + ${count} + 1, 1), len(${parts})), ${separator}) WHEN ${text} IS NULL OR ${separator} IS NULL OR ${count} IS NULL THEN NULL ELSE '' END`;
}

function sha2Sql(call: EngineCall): string {
  const bits = literalInteger(call.call, 1);
  if (bits === 0n || bits === 256n) return `sha256(${bytesSql(call)})`;
  return `${textFunctions.sha2}(${bytesSql(call)}, CAST(${argument(call, 1)} AS VARCHAR))`;
}

/** NULL when any part is; lists are joined end to end. */
function concatSql(call: EngineCall): string {
  if (call.args.length === 0) return "''";
  const type = concatType(call.types, call.call);
  if (type?.kind === 'list') return `(${widened(call).join(' || ')})`;
  const texts = call.args.map((value, index) => {
    if (type?.kind === 'binary') return value;
    return call.types[index]?.kind === 'binary'
      ? castSql(value, { from: types.binary, to: types.string, safe: false })
      : asText(call, index);
  });
  return `(${texts.join(' || ')})`;
}

function concatType(given: readonly (DataType | undefined)[], call: CallExpression): DataType | undefined {
  if (given.some((type) => type?.kind === 'list')) return commonArgument(given, call) ?? given[0];
  return given.length > 0 && given.every((type) => type?.kind === 'binary') ? types.binary : types.string;
}

/** Skips nulls; lists give their elements. */
function concatWithSeparator(call: EngineCall): string {
  const [separator = 'NULL', ...parts] = call.args;
  const lists = parts.map((_, index) =>
    call.types[index + 1]?.kind === 'list' ? textsSql(call, index + 1) : `[CAST(${asText(call, index + 1)} AS VARCHAR)]`,
  );
  if (lists.length === 0) return `CASE WHEN ${separator} IS NOT NULL THEN '' END`;
  const all = lists.slice(1).reduce((joined, list) => `list_concat(${joined}, coalesce(${list}, []))`, `coalesce(${lists[0] ?? '[]'}, [])`);
  return `CASE WHEN ${separator} IS NULL THEN NULL ELSE coalesce(array_to_string(list_filter(${all}, lambda "__part": "__part" IS NOT NULL), ${separator}), '') END`;
}

const utf8: ReadonlySet<string> = new Set(['utf-8', 'utf8']);

function encodeSql(call: EngineCall): string {
  const charset = literalText(call.call, 1)?.toLowerCase();
  const text = `CAST(${asText(call, 0)} AS VARCHAR)`;
  return charset !== undefined && utf8.has(charset) ? `encode(${text})` : `${textFunctions.encode}(${text}, ${argument(call, 1)})`;
}

/** With two arguments bytes of a charset, with more a choice by equal values, NULL among them. */
function decodeSql(call: EngineCall): string {
  const [value = 'NULL', charset = 'NULL', ...rest] = call.args;
  if (rest.length === 0) {
    const known = literalText(call.call, 1)?.toLowerCase();
    const bytes = bytesSql(call);
    return known !== undefined && utf8.has(known) ? `decode(${bytes})` : `${textFunctions.decode}(${bytes}, ${charset})`;
  }
  const choices = [charset, ...rest];
  const typed = (sql: string, place: number): TypedSql => ({ sql, type: call.types[place] });
  const equal = (choice: string, place: number): string =>
    comparisonSql('<=>', ...comparedOperands([typed(value, 0), typed(choice, place)], call.call));
  const type = decodeType(call.types);
  const chosen = (place: number): string => {
    const [sql = 'NULL', from] = [call.args[place], call.types[place]];
    return type === undefined || from === undefined || isSame(from, type)
      ? sql
      : castSql(sql, { from, to: type, safe: false, zone: call.call.zone });
  };
  const branches = choices.flatMap((choice, index) =>
    index % 2 === 0 && index + 1 < choices.length ? [` WHEN ${equal(choice, index + 1)} THEN ${chosen(index + 2)}`] : [],
  );
  return `CASE${branches.join('')} ELSE ${choices.length % 2 === 1 ? chosen(choices.length) : 'NULL'} END`;
}

function decodeType(given: readonly (DataType | undefined)[]): DataType | undefined {
  const isChosen = (place: number): boolean => (place >= 2 && place % 2 === 0) || (place === given.length - 1 && given.length % 2 === 0);
  return given.length === 2 ? types.string : commonOf(given.filter((type, place) => type !== undefined && isChosen(place)));
}

function hexSql(call: EngineCall): string {
  const value = argument(call, 0);
  const type = call.types[0];
  if (type === undefined || isNumeric(type))
    return `hex(${type === undefined ? value : castSql(value, { from: type, to: types.long, safe: false })})`;
  return `hex(${bytesSql(call)})`;
}

function repeatSql(text = 'NULL', count = 'NULL'): string {
  const size = `(CAST(strlen(CAST(${text} AS VARCHAR)) AS DOUBLE) * ${count})`;
  return `repeat(${text}, ${boundedArgument('repeat', 'bytes', { sql: notNegative(count), size })})`;
}

/** A number of characters, which take a byte each at least. */
function boundedCount(name: string, count = 'NULL'): string {
  return boundedArgument(name, 'bytes', { sql: count, size: count });
}

/** A text of one argument; others are cast to it. */
function ofText(build: (text: string) => string, type: DataType = types.string): FunctionSpec {
  return scalar(['string'], (text = 'NULL') => build(text), type);
}

/** A function of bytes, or of text for its UTF-8. */
function ofBytes(build: (bytes: string) => string, type: DataType = types.string): FunctionSpec {
  return built(['bytes'], (call) => build(bytesSql(call)), type);
}

/** Bytes are padded as their digits. */
function padded(name: 'lpad' | 'rpad'): FunctionSpec {
  const sql = (call: EngineCall): string => {
    const [value, count] = [argument(call, 0), boundedCount(name, argument(call, 1))];
    if (isBinary(call)) return `from_hex(${name}(hex(${value}), 2 * ${count}, hex(${call.args[2] ?? "CAST('\\x00' AS BLOB)"})))`;
    const pad = call.args[2] ?? blank;
    const made = `${name}(${value}, ${notNegative(count)}, ${pad})`;
    return call.args[2] === undefined ? made : `CASE WHEN ${pad} = '' THEN left(${value}, ${notNegative(count)}) ELSE ${made} END`;
  };
  const shown = ([value = '', count = '', pad]: readonly string[]): string =>
    `${name}(${value}, ${count}, ${pad ?? (/^X'|unhex/.test(value) ? "X'00'" : ' ')})`;
  return built(['text', 'integer', 'text?'], sql, (given) => given[0], shown);
}

/** Whether bytes or text are found at the place. */
function found(place: 'starts_with' | 'ends_with' | 'contains'): FunctionSpec {
  const sql = (call: EngineCall): string => {
    const [value, sought] = [argument(call, 0), argument(call, 1)];
    if (!isBinary(call)) return `${place}(CAST(${value} AS VARCHAR), CAST(${sought} AS VARCHAR))`;
    // As digits, of which each byte has two.
    if (place !== 'contains') return `${place}(hex(${value}), hex(${sought}))`;
    return `regexp_matches(hex(${value}), '^(..)*' || hex(${sought}))`;
  };
  return built(['text', 'text'], sql, types.boolean);
}

/** By characters: the engine itself counts the changes of bytes. */
function levenshteinSql(left = 'NULL', right = 'NULL', limit?: string): string {
  const distance = `CAST(${textFunctions.levenshtein}(${left}, ${right}) AS INTEGER)`;
  if (limit === undefined) return distance;
  return bindOnce(distance, '__distance', (d) => `CASE WHEN ${limit} IS NULL THEN NULL WHEN ${d} > ${limit} THEN -1 ELSE ${d} END`);
}

function initialsSql(text: string): string {
  const word = `upper(left("__word", 1)) || substring("__word", 2)`;
  return `array_to_string(list_transform(string_split(lower(${text}), ' '), lambda "__word": ${word}), ' ')`;
}

/** Letters beyond ASCII have rules that the engine's functions know a part of. */
function withLetters(text: string, name: string, plain: string): string {
  return `CASE WHEN strlen(${text}) = length(${text}) THEN ${plain} ELSE ${name}(${text}) END`;
}

const upper = ofText((text) => withLetters(text, textFunctions.upper, `upper(${text})`));
const lower = ofText((text) => withLetters(text, textFunctions.lower, `lower(${text})`));
const length = built(['text'], lengthSql, types.integer);
const character = scalar(['whole'], (code) => `CASE WHEN ${code} < 0 THEN '' ELSE chr(CAST(${code} % 256 AS INTEGER)) END`, types.string);
const substringSpec = built(['text', 'integer', 'integer?'], substringSql, (given) =>
  given[0]?.kind === 'binary' ? types.binary : types.string,
);
const substring = (name: string): FunctionSpec =>
  shownAs(([text = '', from = '', count = '2147483647']) => `${name}(${text}, ${from}, ${count})`, substringSpec);
const position = (name: string): FunctionSpec =>
  scalar(
    ['string', 'string', 'integer?'],
    (sought, text, from?: string) => locate(text, sought, from),
    types.integer,
    ([sought = '', text = '', from = '1']) => `${name}(${sought}, ${text}, ${from})`,
  );
const matches = scalar(['string', 'string'], (text, pattern) => `regexp_matches(${text}, ${pattern})`, types.boolean);
const startsWith = found('starts_with');
const endsWith = found('ends_with');
const trimCharacters = (name: string): ReturnType<typeof scalar> =>
  scalar(2, (text, characters) => `${name}(${text}, ${characters})`, types.string);
const sha1 = ofBytes((bytes) => `sha1(${bytes})`);

function locate(text = 'NULL', sought = 'NULL', from?: string): string {
  if (from === undefined) return `CAST(instr(${text}, ${sought}) AS INTEGER)`;
  const after = `instr(substring(${text}, ${from}), ${sought})`;
  // Nothing is found at the first place, wherever the search begins.
  return `CAST(CASE WHEN ${from} IS NULL THEN 0 WHEN ${sought} IS NULL OR ${text} IS NULL THEN NULL WHEN ${from} <= 0 THEN 0 WHEN ${sought} = '' THEN 1 WHEN ${after} = 0 THEN 0 ELSE ${after} + ${from} - 1 END AS INTEGER)`;
}

function overlaySql(text = 'NULL', other = 'NULL', from = 'NULL', count?: string): string {
  const length = count === undefined ? `length(${other})` : `CASE WHEN ${count} < 0 THEN length(${other}) ELSE ${count} END`;
  return `(left(${text}, ${notNegative(`${from} - 1`)}) || ${other} || substring(${text}, ${from} + ${length}))`;
}

/** The value at the place, from 1. */
function eltSql(call: EngineCall): string {
  const [place = 'NULL', ...values] = call.args;
  const isBytes = call.types.slice(1).every((type) => type?.kind === 'binary');
  const branches = values.map(
    (value, index) => ` WHEN ${index + 1} THEN ${isBytes ? value : `CAST(${asText(call, index + 1)} AS VARCHAR)`}`,
  );
  const outside = `error('[INVALID_ARRAY_INDEX] The index ' || ${place} || ' is out of bounds. The array has ${values.length} elements.')`;
  return `CASE ${place}${branches.join('')} ELSE CASE WHEN ${place} IS NOT NULL THEN ${outside} END END`;
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
  octet_length: built(['text'], octetsSql, types.integer),
  bit_length: built(['text'], (call) => `(${octetsSql(call)} * 8)`, types.integer),
  substring: substring('substring'),
  substr: substring('substr'),
  left: scalar(['string', 'integer'], (text, count) => `left(${text}, ${notNegative(count)})`, types.string),
  right: scalar(['string', 'integer'], (text, count) => `right(${text}, ${notNegative(count)})`, types.string),
  trim: scalar(['string', 'string?'], (text, characters = blank) => `trim(${text}, ${characters})`, types.string),
  btrim: scalar(['string', 'string?'], (text, characters = blank) => `trim(${text}, ${characters})`, types.string),
  // With two arguments Spark takes the characters first.
  ltrim: scalar(
    ['string', 'string?'],
    (first, second?: string) => (second === undefined ? `ltrim(${first}, ${blank})` : `ltrim(${second}, ${first})`),
    types.string,
  ),
  rtrim: scalar(
    ['string', 'string?'],
    (first, second?: string) => (second === undefined ? `rtrim(${first}, ${blank})` : `rtrim(${second}, ${first})`),
    types.string,
  ),
  trim_characters: trimCharacters('trim'),
  ltrim_characters: trimCharacters('ltrim'),
  rtrim_characters: trimCharacters('rtrim'),
  lpad: padded('lpad'),
  rpad: padded('rpad'),
  replace: scalar(['string', 'string', 'string?'], (text, sought, other = "''") => `replace(${text}, ${sought}, ${other})`, types.string),
  translate: renamed('translate', ['string', 'string', 'string'], types.string),
  repeat: scalar(['string', 'integer'], repeatSql, types.string),
  space: scalar(['integer'], (count) => `repeat(' ', ${notNegative(boundedCount('space', count))})`, types.string),
  initcap: scalar(['string'], (text = 'NULL') => withLetters(text, textFunctions.initcap, initialsSql(text)), types.string),
  concat: built([0, many], concatSql, concatType),
  concat_ws: built(['string', 'any...'], concatWithSeparator, types.string),
  split: built(['string', 'string', 'integer?'], splitSql, { kind: 'list', element: types.string, elementNullable: false }),
  split_part: scalar(['string', 'string', 'integer'], splitPart, types.string),
  substring_index: scalar(['string', 'string', 'integer'], substringIndex, types.string),
  instr: scalar(['string', 'string'], (text, sought) => locate(text, sought), types.integer),
  locate: position('locate'),
  position: position('position'),
  charindex: position('charindex'),
  startswith: startsWith,
  starts_with: startsWith,
  endswith: endsWith,
  ends_with: endsWith,
  contains: found('contains'),
  rlike: matches,
  regexp: matches,
  regexp_like: matches,
  ascii: scalar(['string'], (text) => `CASE WHEN ${text} = '' THEN 0 ELSE unicode(${text}) END`, types.integer),
  chr: character,
  char: character,
  base64: ofBytes((bytes) => `to_base64(${bytes})`),
  unbase64: renamed('from_base64', 1, types.binary),
  hex: built(1, hexSql, types.string),
  unhex: ofText((text) => `TRY(from_hex(CASE WHEN length(${text}) % 2 = 0 THEN ${text} ELSE '0' || ${text} END))`, types.binary),
  encode: built(['string', 'string'], encodeSql, types.binary),
  decode: built([2, many], decodeSql, decodeType),
  md5: ofBytes((bytes) => `md5(${bytes})`),
  sha: sha1,
  sha1,
  sha2: built(['bytes', 'integer'], sha2Sql, types.string),
  levenshtein: scalar(['string', 'string', 'integer?'], levenshteinSql, types.integer),
  soundex: scalar(['ownText'], (text) => `${textFunctions.soundex}(${text})`, types.string),
  crc32: ofBytes((bytes) => `${textFunctions.crc32}(${bytes})`, types.long),
  overlay: scalar(['string', 'string', 'integer', 'integer?'], overlaySql, types.string),
  elt: built([2, many], eltSql, ([, ...rest]) => (rest.every((type) => type?.kind === 'binary') ? types.binary : types.string)),
  find_in_set: scalar(
    ['string', 'string'],
    (text, list) =>
      `CASE WHEN contains(${text}, ',') THEN 0 ELSE CAST(coalesce(list_position(string_split(${list}, ','), ${text}), CASE WHEN ${list} IS NOT NULL AND ${text} IS NOT NULL THEN 0 END) AS INTEGER) END`,
    types.integer,
  ),
};
