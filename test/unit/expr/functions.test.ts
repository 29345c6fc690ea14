import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindExpression } from '../../../src/expr/bind-expression.ts';
import { parseExpression } from '../../../src/expr/parse/parse-expression.ts';
import { parseSchema } from '../../../src/expr/parse/parse-type.ts';
import { expressionSql } from '../../../src/expr/sql/engine-sql.ts';
import { TestEngine } from './engine-fixture.ts';

// Expected values are those of Spark 4.1 in its default mode.

const schema = parseSchema('v STRING, l ARRAY<INT>, m MAP<INT, STRING>');
const row = `SELECT CAST(NULL AS VARCHAR) v, CAST([1, 2] AS INTEGER[]) l, map([CAST(1 AS INTEGER)], ['a']) m`;

let engine: TestEngine;
beforeAll(async () => {
  engine = await TestEngine.open();
});
afterAll(() => {
  engine.close();
});

async function value(text: string): Promise<string> {
  return (await engine.values(text, schema, row))[0] ?? 'no row';
}

describe('to_json prints as Spark does', () => {
  it.each([
    ["to_json(named_struct('a', 1, 'b', CAST(NULL AS STRING), 'c', array(1, NULL, 2)))", '{"a":1,"c":[1,null,2]}'],
    ["to_json(array(named_struct('a', 1), NULL))", '[{"a":1},null]'],
    ["to_json(map('k', 1, 'z', NULL))", '{"k":1,"z":null}'],
    ["to_json(map(1, 'x'))", '{"1":"x"}'],
    [
      "to_json(named_struct('m', map('a', named_struct('q', CAST(NULL AS INT))), 'arr', array(array(1), NULL)))",
      '{"m":{"a":{}},"arr":[[1],null]}',
    ],
    ['to_json(CAST(NULL AS STRUCT<a: INT>))', 'NULL'],
    [
      "to_json(named_struct('t', TIMESTAMP'2024-03-10 14:05:06.123456', 'n', TIMESTAMP_NTZ'2024-03-10 14:05:06.5'))",
      '{"t":"2024-03-10T14:05:06.123Z","n":"2024-03-10T14:05:06.500"}',
    ],
    [
      "to_json(named_struct('d', DATE'0001-01-01', 'dec', CAST(1.50 AS DECIMAL(10,2)), 'bin', X'00FF41'))",
      '{"d":"0001-01-01","dec":1.50,"bin":"AP9B"}',
    ],
    [
      "to_json(named_struct('a', 1.0D, 'b', 1e20D, 'c', 1e7D, 'd', 1.5e-5D, 'e', 123456789.125D, 'f', -0.0D, 'g', 0.001D))",
      '{"a":1.0,"b":1.0E20,"c":1.0E7,"d":1.5E-5,"e":1.23456789125E8,"f":-0.0,"g":0.001}',
    ],
    [
      "to_json(named_struct('n', CAST('NaN' AS DOUBLE), 'i', CAST('-Infinity' AS DOUBLE), 'f', CAST(0.1 AS FLOAT)))",
      '{"n":"NaN","i":"-Infinity","f":0.1}',
    ],
    ["to_json(named_struct('tiny', CAST(0.0000001 AS DECIMAL(10,8)), 'zero', CAST(0 AS DECIMAL(10,8))))", '{"tiny":1.0E-7,"zero":0E-8}'],
    ["to_json(named_struct('a\"b', 'x\"\\\\\\n\\té\\u0001'))", '{"a\\"b":"x\\"\\\\\\n\\té\\u0001"}'],
  ])('%s', async (text, expected) => {
    expect(await value(text)).toBe(expected);
  });
});

describe('from_json reads as Spark does', () => {
  const structs: readonly (readonly [string, string, string])[] = [
    ['{"a":1,"b":0.8}', 'a INT, b DOUBLE', '{"a":1,"b":0.8}'],
    ['{"a":"1","b":1}', 'a INT, b STRING', '{"b":"1"}'],
    ['{"a":1.0,"b":300,"c":99999999999}', 'a INT, b TINYINT, c INT', '{}'],
    ['bad', 'a INT', '{}'],
    ['null', 'a INT', '{}'],
    [
      '{"a":{"z":1},"b":1e2,"c":true,"d":12345678901234567890}',
      'a STRING, b STRING, c STRING, d STRING',
      '{"a":"{\\"z\\":1}","b":"100.0","c":"true","d":"12345678901234567890"}',
    ],
    ['{"a":"NaN","b":"1.5","c":12}', 'a DOUBLE, b DOUBLE, c DOUBLE', '{"a":"NaN","c":12.0}'],
    ['{"a":1.50,"b":"1.50","c":1.255}', 'a DECIMAL(10,2), b DECIMAL(10,2), c DECIMAL(10,2)', '{"a":1.50,"b":1.50,"c":1.26}'],
    ['{"a":true,"b":"true"}', 'a BOOLEAN, b BOOLEAN', '{"a":true}'],
    [
      '{"t":"2024-03-10T14:05:06Z","d":"2024-03-10","u":1704067200}',
      't TIMESTAMP, d DATE, u TIMESTAMP',
      '{"t":"2024-03-10T14:05:06.000Z","d":"2024-03-10","u":"2024-01-01T00:00:00.000Z"}',
    ],
    ['{"a":"AEE="}', 'a BINARY', '{"a":"AEE="}'],
    ['{"a":[1,"x"],"b":2}', 'a ARRAY<INT>, b INT', '{"b":2}'],
    ['{"m":{"p":1,"q":null}}', 'm MAP<STRING, INT>', '{"m":{"p":1,"q":null}}'],
    ['{"m":{"p":1,"q":"x"},"b":2}', 'm MAP<STRING, INT>, b INT', '{"b":2}'],
    ['{"s":{"p":1,"q":"x"}}', 'STRUCT<s: STRUCT<p: INT, q: INT>>', '{"s":{"p":1}}'],
    ['{"a/b~c":1,"A":2}', '`a/b~c` INT, a INT', '{"a/b~c":1}'],
  ];
  it.each(structs)('%s as %s', async (json, type, expected) => {
    expect(await value(`to_json(from_json('${json.replaceAll('\\', '\\\\')}', '${type}'))`)).toBe(expected);
  });

  it.each([
    ["from_json('[1,2,3]', 'ARRAY<INT>')", '[1, 2, 3]'],
    ["from_json('[1,\"x\"]', 'ARRAY<INT>')", 'NULL'],
    ["from_json('bad', 'ARRAY<INT>')", 'NULL'],
    ["to_json(from_json('{\"a\":1}', 'ARRAY<STRUCT<a: INT>>'))", '[{"a":1}]'],
    ['to_json(from_json(\'[{"a":1},{"a":"x"}]\', \'ARRAY<STRUCT<a: INT>>\'))', '[{"a":1},{}]'],
    ["from_json('', 'a INT')", 'NULL'],
    ["from_json('  ', 'a INT')", 'NULL'],
    ["from_json(v, 'a INT')", 'NULL'],
  ])('%s', async (text, expected) => {
    expect(await value(text)).toBe(expected);
  });

  it('a decimal that JSON numbers of the engine cannot hold is an error, not another number', async () => {
    await expect(value(`from_json('{"a":12345678901234567890.123}', 'a DECIMAL(38,3)')`)).rejects.toThrow('NUMERIC_VALUE_OUT_OF_RANGE');
    expect(await value(`to_json(from_json('{"a":"12345678901234567890.123"}', 'a DECIMAL(38,3)'))`)).toBe('{"a":12345678901234567890.123}');
  });
});

describe('functions of text, lists and maps', () => {
  it.each([
    [`get_json_object('{"a":{"b":[1,2]}}', '$.a.b[1]')`, '2'],
    [`get_json_object('{"a":{"x": 1,  "y":"é"}}', '$.a')`, '{"x":1,"y":"é"}'],
    [`get_json_object('[{"a":"b"},{"a":"c"}]', '$[*].a')`, '["b","c"]'],
    [`get_json_object('[{"a":"b"}]', '$[*].a')`, '"b"'],
    [`get_json_object('{"a b":1}', '$[\\'a b\\']')`, '1'],
    [`get_json_object('bad', '$.a')`, 'NULL'],
    [`get_json_object('{"a":1}', 'a')`, 'NULL'],
    [`get_json_object('{"a":null}', '$.a')`, 'NULL'],
    [`json_array_length('[1,2,[3]]')`, '3'],
    ["regexp_extract('100-200', '(\\\\d+)-(\\\\d+)')", '100'],
    ["array_join(regexp_extract_all('100-200, 300-400', '(\\\\d+)-(\\\\d+)', 1), ' ')", '100 300'],
    ["regexp_replace('100-200', '(\\\\d+)-(\\\\d+)', '$2-$1')", '200-100'],
    ["regexp_replace('100-200-300', '(\\\\d+)', 'num', 5)", '100-num-num'],
    ["regexp_replace('a.b', '\\\\.', '\\\\$')", 'a$b'],
    ["regexp_replace('abc', 'b', 'x\\\\\\\\y')", 'ax\\yc'],
    ["regexp_substr('Steven Jones', 'Ste(v|ph)en')", 'Steven'],
    ['flatten(array(array(1, 2), NULL))', 'NULL'],
    ['flatten(array(array(1, 2), array(3, NULL)))', '[1, 2, 3, NULL]'],
    ['slice(array(1, 2, 3, 4), -2, 2)', '[3, 4]'],
    ['slice(array(1, 2, 3, 4), -5, 2)', '[]'],
    ['sequence(5, 1)', '[5, 4, 3, 2, 1]'],
    ['sequence(1, 10, 3)', '[1, 4, 7, 10]'],
    ["sequence(DATE'2018-01-31', DATE'2018-04-30', INTERVAL 1 MONTH)", '[2018-01-31, 2018-02-28, 2018-03-31, 2018-04-30]'],
    ["sequence(DATE'2018-01-03', DATE'2018-01-01')", '[2018-01-03, 2018-01-02, 2018-01-01]'],
    ['arrays_overlap(array(1, NULL), array(3, 4))', 'NULL'],
    ['to_json(arrays_zip(l, array(3)))', '[{"l":1,"1":3},{"l":2}]'],
    ['zip_with(array(1, 2), array(3), (x, y) -> x + y)', '[4, NULL]'],
    ['map_from_entries(array(struct(1, 2), NULL))', 'NULL'],
    ["to_json(map_concat(m, map(2, 'b')))", '{"1":"a","2":"b"}'],
    ['to_json(map_entries(m))', '[{"key":1,"value":"a"}]'],
    ['to_json(map_filter(map(1, 0, 2, 2, 3, -1), (k, v) -> k > v))', '{"1":0,"3":-1}'],
    ['transform_keys(map(1, 1, 2, 2), (k, v) -> k + v)', '{2: 1, 4: 2}'],
    ['transform_values(map(1, 1, 2, 2), (k, v) -> v + 1)', '{1: 2, 2: 3}'],
  ])('%s', async (text, expected) => {
    expect(await value(text)).toBe(expected);
  });
});

describe('functions of the calendar', () => {
  it.each([
    ["months_between('1997-02-28 10:30:00', '1996-10-30')", '3.94959677'],
    ["months_between('1997-02-28 10:30:00', '1996-10-30', false)", '3.9495967741935485'],
    ["months_between(DATE'2024-03-31', DATE'2024-02-29')", '1'],
    ["months_between(DATE'2024-01-15', DATE'2024-03-10')", '-1.83870968'],
    ["add_months('2016-08-31', 1)", '2016-09-30'],
    ["last_day('2009-01-12')", '2009-01-31'],
    ["next_day('2015-01-14', 'TU')", '2015-01-20'],
    ["next_day(DATE'2015-01-14', 'wednesday')", '2015-01-21'],
    ["next_day(DATE'2015-01-14', v)", 'NULL'],
    ["trunc('2019-08-04', 'week')", '2019-07-29'],
    ["trunc('2019-02-12', 'day')", 'NULL'],
    ["trunc('2019-08-04', lower('QUARTER'))", '2019-07-01'],
    ["date_trunc('MILLISECOND', TIMESTAMP'2015-03-05 09:32:05.123456')", '2015-03-05 09:32:05.123+00'],
    ["date_trunc('bogus', TIMESTAMP'2015-03-05 09:32:05')", 'NULL'],
    ['make_date(2013, 7, 15)', '2013-07-15'],
    ['make_timestamp_ntz(2014, 12, 28, 6, 30, 45.887)', '2014-12-28 06:30:45.887'],
    ['make_timestamp(2019, 6, 30, 23, 59, 60)', '2019-07-01 00:00:00+00'],
    ["dayname(DATE'2024-01-01')", 'Mon'],
  ])('%s', async (text, expected) => {
    expect(await value(text)).toBe(expected);
  });
});

describe('refusals of functions', () => {
  const sqlOf = (text: string): string => expressionSql(bindExpression(parseExpression(text), [{ schema }]), ([name = '']) => name);
  it.each([
    ['to_json(1)', 'DATATYPE_MISMATCH.INVALID_JSON_SCHEMA'],
    ["to_json(named_struct('a', 1), map('pretty', 'true'))", 'WRONG_NUM_ARGS.WITHOUT_SUGGESTION'],
    ["from_json(v, 'INT')", 'DATATYPE_MISMATCH.INVALID_JSON_SCHEMA'],
    ['from_json(v, v)', 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE'],
    ["from_json(v, 'a INT> , b')", 'PARSE_SYNTAX_ERROR'],
    ["schema_of_json('{}')", 'UNSUPPORTED_FUNCTION'],
    ['input_file_name()', 'UNSUPPORTED_FUNCTION'],
    ["regexp_extract(v, '(a)(b)', 3)", 'INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX'],
    ["next_day(v, 'xx')", 'ILLEGAL_DAY_OF_WEEK'],
  ])('%s is refused with %s', (text, errorClass) => {
    expect(() => sqlOf(text)).toThrow(expect.objectContaining({ errorClass }));
  });
});
