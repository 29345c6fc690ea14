import type { ExpressionSuite } from './expression-suite.ts';
import { kinds } from './matrix-values.ts';

/** Functions by the kinds of their parameters; what is in quotes or is no kind stands as it is. */
const ofNumbers: readonly string[] = [
  ...each(
    'abs negative positive sign signum ceil floor round bround sqrt cbrt exp expm1 ln log2 log10 log1p sin cos tan cot sec csc asin acos atan',
    'number',
  ),
  ...each(
    'sinh cosh tanh asinh acosh atanh degrees radians rint isnan hex bin factorial bit_count typeof string double int bigint',
    'number',
  ),
  ...each('float decimal boolean tinyint smallint crc32 md5 isnull nullifzero zeroifnull', 'number'),
  ...each('round bround ceil floor', 'number, small'),
  ...each(
    'pow atan2 hypot log pmod mod try_mod try_add try_subtract try_multiply try_divide nanvl greatest least nullif nvl equal_null',
    'number, number',
  ),
  ...each('shiftleft shiftright shiftrightunsigned getbit', 'whole, small'),
  'width_bucket(number, 0, 10, small)',
  'conv(text, base, base)',
  'format_number(number, count)',
];

const ofText: readonly string[] = [
  ...each(
    'upper lower initcap trim ltrim rtrim btrim ascii length octet_length bit_length reverse base64 unbase64 hex unhex md5 sha1 crc32 soundex',
    'text',
  ),
  ...each('char_length quote luhn_check mask url_encode url_decode try_url_decode hash xxhash64 isnull date timestamp binary', 'text'),
  ...each('length octet_length bit_length base64 hex md5 sha1 crc32 hash xxhash64', 'bytes'),
  ...each('chr char', 'small'),
  'space(count)',
  'repeat(text, count)',
  ...each('left right', 'text, small'),
  ...each('substring substr', 'text, small, small'),
  ...each('lpad rpad', 'text, count, text'),
  'split_part(text, text, small)',
  "split_part('a.b.c', '.', small)",
  "substring_index('a.b.c', text, small)",
  'split(text, pattern)',
  'split(text, pattern, small)',
  ...each('contains startswith endswith instr levenshtein find_in_set locate ltrim btrim equal_null', 'text, text'),
  'locate(text, text, small)',
  'levenshtein(text, text, small)',
  ...each('replace translate', 'text, text, text'),
  'overlay(text, text, small, small)',
  'concat(text, text)',
  "concat_ws(text, 'a', text)",
  "concat_ws(',', list)",
  'elt(small, text, text)',
  'sha2(text, small)',
  "encode(text, 'UTF-16')",
  "encode(text, 'US-ASCII')",
  "decode(bytes, 'UTF-8')",
  "decode(bytes, 'ISO-8859-1')",
  ...each('to_binary try_to_binary', "text, 'hex'"),
  ...each('to_binary try_to_binary', "text, 'base64'"),
  ...each('to_binary try_to_binary', "text, 'utf-8'"),
  "format_string('%s', text)",
  "format_string('%d', whole)",
  "format_string('%.3f', number)",
  ...each('regexp_like regexp_count regexp_substr regexp_instr rlike', 'text, pattern'),
  ...each('regexp_extract regexp_extract_all', "'Spark 4 a1', pattern, small"),
  'regexp_extract(text, pattern, 0)',
  "regexp_replace(text, pattern, 'X')",
  "regexp_replace('ab ab', '(a)(b)', '$2$1')",
  ...each('parse_url try_parse_url', 'url, part'),
  ...each('parse_url try_parse_url', "url, 'QUERY', text"),
  "str_to_map(text, ',', ':')",
];

const ofTimes: readonly string[] = [
  ...each(
    'year quarter month day dayofmonth dayofweek weekday dayofyear weekofyear last_day dayname monthname unix_date to_date string',
    'date',
  ),
  ...each('hour minute second unix_timestamp to_timestamp timestamp date to_timestamp_ntz string', 'time'),
  ...each('unix_seconds unix_millis unix_micros', 'time'),
  ...each('date_add date_sub add_months', 'date, small'),
  ...each('datediff months_between', 'date, date'),
  'months_between(time, time, false)',
  'next_day(date, text)',
  "next_day(date, 'tue')",
  'trunc(date, unit)',
  'date_trunc(unit, time)',
  ...['YEAR', 'YEAROFWEEK', 'WEEK', 'DOW', 'DAYOFWEEK_ISO', 'DOY', 'SECOND'].map((field) => `extract(${field} FROM time)`),
  ...['YEAR', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MICROSECOND'].map((unit) => `timestampadd(${unit}, small, time)`),
  ...['YEAR', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MICROSECOND'].map((unit) => `timestampdiff(${unit}, time, time)`),
  'make_date(small, 1, 1)',
  'make_date(2024, small, 31)',
  'make_timestamp(2024, small, 29, 1, 2, number)',
  'make_timestamp(2024, 2, 29, 1, 2, 3.5, zone)',
  'try_make_timestamp(2024, small, 29, 1, 2, 3)',
  'date_format(time, format)',
  "date_format(TIMESTAMP '0099-07-04 00:05:09.123456', format)",
  'from_unixtime(whole, format)',
  'from_unixtime(whole)',
  ...each('to_timestamp try_to_timestamp unix_timestamp to_date try_to_date', "text, 'yyyy-MM-dd'"),
  ...[
    "'2024-02-29 12:34:56'",
    "'2024-2-9 1:2:3'",
    "'29/02/24'",
    "'20240229123456789'",
    "'Feb 29, 2024 1:05 PM'",
    "'2024-02-29 extra'",
    "''",
  ].flatMap((value) => [`to_timestamp(${value}, format)`, `try_to_timestamp(${value}, format)`]),
  ...each('timestamp_seconds timestamp_millis timestamp_micros date_from_unix_date', 'whole'),
  ...each('from_utc_timestamp to_utc_timestamp', 'time, zone'),
  "convert_timezone('UTC', zone, time)",
];

const ofCollections: readonly string[] = [
  ...each(
    'size cardinality array_size array_distinct array_max array_min array_sort sort_array array_compact reverse flatten to_json hash xxhash64',
    'list',
  ),
  ...each('size map_keys map_values map_entries to_json', 'map'),
  ...each('array_contains array_position array_remove array_append array_prepend', 'list, any'),
  ...each('array_union array_intersect array_except arrays_overlap arrays_zip concat', 'list, list'),
  ...each('element_at try_element_at get', 'list, small'),
  'slice(list, count, count)',
  'array_insert(list, count, any)',
  "array_join(list, ',')",
  'array_join(list, text, text)',
  'array_repeat(any, count)',
  ...each('element_at try_element_at map_contains_key', 'map, any'),
  ...each('map_concat', 'map, map'),
  'map_from_arrays(list, list)',
  'map_from_entries(list)',
  ...['1, 5', '5, 1', 'NULL, 2', '3, NULL', '-2, 2L', '1Y, 3', '1, 9, 3', '1, 9, -3', '9, 1, -4', '1, 9, 0', '1, 9, NULL'].map(
    (given) => `sequence(${given})`,
  ),
  'array(any, any)',
  'map(any, any)',
  "named_struct('a', any)",
  'struct(any)',
  'coalesce(any, any)',
  'if(boolean, any, any)',
  'nvl2(any, any, any)',
  'CASE WHEN boolean THEN any ELSE any END',
  'transform(list, x -> x)',
  'filter(list, x -> x IS NOT NULL)',
  'exists(list, x -> x IS NULL)',
  'forall(list, x -> x IS NOT NULL)',
  'aggregate(list, 0, (a, x) -> a + 1)',
  'zip_with(list, list, (x, y) -> x IS NULL)',
];

const ofJson: readonly string[] = [
  'get_json_object(json, path)',
  'json_array_length(json)',
  'json_object_keys(json)',
  "from_json(json, 'a INT, b ARRAY<INT>')",
  "from_json(json, 'a STRING')",
  "from_json(json, 'MAP<STRING, STRING>')",
  "to_json(named_struct('a', any))",
  ...each('parse_json try_parse_json', 'json').map((call) => `to_json(${call})`),
  "variant_get(parse_json(json), path, 'string')",
  'schema_of_variant(parse_json(json))',
];

const ofOperators: readonly string[] = [
  ...['+', '-', '*', '/', '%', 'DIV', '=', '<=>', '<', '&', '||'].map((operator) => `number ${operator} number`),
  ...['=', '<', '<=>', 'LIKE', 'ILIKE', 'RLIKE', '||'].map((operator) => `text ${operator} text`),
  ...['=', '<', '-', '+'].map((operator) => `date ${operator} date`),
  ...['=', '<', '<=>', '-'].map((operator) => `time ${operator} time`),
  ...['=', '<', '<=>'].map((operator) => `list ${operator} list`),
  'any = any',
  'any IN (any, 2)',
  'any BETWEEN any AND any',
  'NOT boolean',
  'boolean AND boolean',
  'boolean OR boolean',
  'number IS DISTINCT FROM number',
];

function each(names: string, parameters: string): readonly string[] {
  return names.split(' ').map((name) => `${name}(${parameters})`);
}

/** The call with one parameter walked at a time, the others at rest. */
function walked(signature: string): readonly string[] {
  const parts = signature.split(/('(?:[^'\\]|\\.)*'|\b[a-z]+\b(?!\())/);
  const places = parts.flatMap((part, place) => (Object.hasOwn(kinds, part) ? [place] : []));
  const valuesAt = (place: number): readonly string[] => kinds[parts[place] ?? ''] ?? [];
  const written = (given: ReadonlyMap<number, string>): string =>
    parts.map((part, place) => (places.includes(place) ? (given.get(place) ?? valuesAt(place)[0] ?? part) : part)).join('');
  const alone = places.flatMap((place) => valuesAt(place).map((value) => written(new Map([[place, value]]))));
  return places.length === 0 ? [signature] : [...new Set(alone)];
}

const families = {
  numbers: ofNumbers,
  text: ofText,
  times: ofTimes,
  collections: ofCollections,
  json: ofJson,
  operators: ofOperators,
} as const;

/** Every function and operator with values at the edges of what its parameters take, and with what they do not take. */
export const matrices: readonly ExpressionSuite[] = Object.entries(families).map(([family, signatures]) => ({
  name: `matrix-${family}`,
  unnamed: true,
  groups: Object.fromEntries(signatures.map((signature) => [signature, walked(signature)])),
}));
