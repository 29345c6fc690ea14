/** Literals at the edges of their types, as arguments of calls. */

export const integers: readonly string[] = ['NULL', '0', '-1', '7', '2147483647', '-2147483648'];
export const longs: readonly string[] = ['9223372036854775807L', '-9223372036854775808L'];
export const smallIntegers: readonly string[] = ['127Y', '-128Y', '32767S'];
export const decimals: readonly string[] = ['0.0', '-2.50', '99999.995', '12345678901234567890.123456789'];
export const doubles: readonly string[] = ['-0.0D', '1.5D', '-2.5D', '1e300D', "double('NaN')", "double('Infinity')", "float('0.1')"];
export const numbers: readonly string[] = [...integers, ...longs, ...smallIntegers, ...decimals, ...doubles];
/** What no number is, or only after a cast. */
export const others: readonly string[] = ["'12'", "'a'", 'true', "DATE '2024-02-29'"];
export const someNumbers: readonly string[] = ['NULL', '0', '-1', '0.5', '2', '-2.5D', "double('NaN')", "'4'"];

/** Empty, blank, more than ASCII, a character of two UTF-16 units, one that two characters make up. */
export const texts: readonly string[] = ['NULL', "''", "' '", "'Spark SQL'", "'ÄßŁ'", "'a😀b'", "'e\\u0301'", "'  pad\\t'"];
export const binaries: readonly string[] = ["X''", "X'00FF'", "X'537061726B'"];

export const dates: readonly string[] = [
  'NULL',
  "DATE '1970-01-01'",
  "DATE '1969-12-31'",
  "DATE '2024-02-29'",
  "DATE '2023-12-31'",
  "DATE '0001-01-01'",
  "DATE '9999-12-31'",
  "'2024-03-10'",
];
export const times: readonly string[] = [
  "TIMESTAMP '1970-01-01 00:00:00'",
  "TIMESTAMP '1969-12-31 23:59:59.999999'",
  "TIMESTAMP '2024-02-29 12:34:56.123456'",
  "TIMESTAMP_NTZ '2024-12-30 00:00:00.5'",
];
export const lists: readonly string[] = [
  'CAST(NULL AS ARRAY<INT>)',
  'array()',
  'array(NULL)',
  'array(1, 2, 2, NULL)',
  "array('b', NULL, 'a', '')",
  'array(3, -1, 2)',
  "array(1.5D, double('NaN'), -0.0D)",
];
export const maps: readonly string[] = ['CAST(NULL AS MAP<STRING, INT>)', 'map()', "map('a', 1, 'b', NULL)", "map(2, 'x', 1, 'y')"];
