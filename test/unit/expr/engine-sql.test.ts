import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindExpression } from '../../../src/expr/bind-expression.ts';
import { functionNames } from '../../../src/expr/functions.ts';
import { parseExpression } from '../../../src/expr/parse/parse-expression.ts';
import { parseSchema } from '../../../src/expr/parse/parse-type.ts';
import { expressionSql } from '../../../src/expr/sql/engine-sql.ts';
import { TestEngine } from './engine-fixture.ts';

const schema = parseSchema(`
  id BIGINT, i INT, t TINYINT, v STRING, d DOUBLE, f FLOAT, dec DECIMAL(10,2), ts TIMESTAMP, ntz TIMESTAMP_NTZ, dt DATE, b BOOLEAN, bin BINARY,
  n INT, nv STRING, nan DOUBLE, s STRUCT<a: INT, b: STRUCT<c: STRING>>, l ARRAY<INT>, ln ARRAY<INT>, m MAP<STRING, INT>, ls ARRAY<STRUCT<x: INT>>, lv ARRAY<STRING>`);
const row = `SELECT CAST(7 AS BIGINT) id, CAST(-3 AS INTEGER) i, CAST(127 AS TINYINT) t, 'Hello' v, CAST(2.7 AS DOUBLE) d, CAST(0.5 AS FLOAT) f,
  CAST(12.50 AS DECIMAL(10,2)) "dec", TIMESTAMPTZ '2024-03-10 14:05:06.789+00' ts, TIMESTAMP '2024-03-10 14:05:06.789' ntz, DATE '2024-03-10' dt,
  true b, 'AZ'::BLOB bin, CAST(NULL AS INTEGER) n, CAST(NULL AS VARCHAR) nv, CAST('NaN' AS DOUBLE) nan, {'a': 5, 'b': {'c': 'deep'}} s,
  [1, 2, 3] l, [1, NULL] ln, map(['k'], [9]) m, [{'x': 1}, {'x': 2}] ls, ['a', NULL, 'b'] lv`;

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

describe('expressions mean in the engine what they mean in Spark', () => {
  it.each([
    // Operators.
    ['1 + 2 * 3 - 4', '3'],
    ['7 / 2', '3.5'],
    ['id / 2', '3.5'],
    ['-7 div 2', '-3'],
    ['-7 % 3', '-1'],
    ['t + 1', '128'],
    ['dec / 2', '6.250000'],
    ['dec * 2', '25.00'],
    ['5 & 3 | 8 ^ 1', '9'],
    ['~5', '-6'],
    ["'a' || v || 1", 'aHello1'],
    ["'a' || nv", 'NULL'],
    ['n <=> NULL', 'true'],
    ['n = NULL', 'NULL'],
    ['n IS DISTINCT FROM 1', 'true'],
    ['i IS NOT DISTINCT FROM -3', 'true'],
    ['nan = nan', 'true'],
    ['nan > 1e300', 'true'],
    ["id = '7'", 'true'],
    ["'7.0' = d", 'false'],
    ["dt = '2024-03-10'", 'true'],
    ["ts > '2024-03-10 14:05:06'", 'true'],
    ['NOT (n > 1)', 'NULL'],
    ['b AND n > 1', 'NULL'],
    ['n > 1 OR b', 'true'],
    ['i BETWEEN -5 AND -1', 'true'],
    ['i NOT BETWEEN -5 AND -1', 'false'],
    ['i IN (1, -3)', 'true'],
    ['i IN (1, NULL)', 'NULL'],
    ["i IN ('-3')", 'true'],
    ["v LIKE 'H%o'", 'true'],
    ["v LIKE 'h%'", 'false'],
    ["v ILIKE 'h%'", 'true'],
    ["'a%b' LIKE 'a\\%b'", 'true'],
    ["'axb' LIKE 'a\\%b'", 'false'],
    ["'a%b' LIKE 'a!%b' ESCAPE '!'", 'true'],
    ["v RLIKE '^H.l+'", 'true'],
    ["v NOT LIKE 'H%'", 'false'],
    ['b IS TRUE', 'true'],
    ['n IS NULL AND i IS NOT NULL', 'true'],
    ['CASE WHEN i > 0 THEN 1 WHEN i < 0 THEN -1 END', '-1'],
    ["CASE i WHEN -3 THEN 'three' ELSE 'other' END", 'three'],
    // Casts.
    ['CAST(d AS INT)', '2'],
    ['CAST(-2.5D AS BIGINT)', '-2'],
    ['CAST(dec AS INT)', '12'],
    ['CAST(1.99 AS INT)', '1'],
    ["CAST(' 12 ' AS INT)", '12'],
    ["TRY_CAST('1.5' AS INT)", 'NULL'],
    ["TRY_CAST('x' AS DOUBLE)", 'NULL'],
    ['CAST(transform(array(d), x -> x)[0] AS INT)', '2'],
    ['CAST(ts AS STRING)', '2024-03-10 14:05:06.789'],
    ['CAST(dt AS STRING)', '2024-03-10'],
    ['CAST(nan AS STRING)', 'NaN'],
    ['CAST(bin AS STRING)', 'AZ'],
    ["CAST(CAST('é' AS BINARY) AS STRING)", 'é'],
    ['CAST(ts AS BIGINT)', '1710079506'],
    ["CAST(TIMESTAMP '1969-12-31 23:59:59.5' AS BIGINT)", '-1'],
    ['CAST(0 AS TIMESTAMP)', '1970-01-01 00:00:00+00'],
    ['CAST(ts AS DATE)', '2024-03-10'],
    ['CAST(dt AS TIMESTAMP)', '2024-03-10 00:00:00+00'],
    ["CAST('2024-01-01T10:00:00+02:00' AS TIMESTAMP)", '2024-01-01 08:00:00+00'],
    ['CAST(0 AS BOOLEAN)', 'false'],
    ["'5'::INT + 1", '6'],
    ['bigint(d) + int(dec)', '14'],
    // Members and elements.
    ['s.a', '5'],
    ['t.s.b.c', 'deep'],
    ['S.B.C', 'deep'],
    ['l[0]', '1'],
    ['l[int(id) - 5]', '3'],
    ['array(1)[n]', 'NULL'],
    ['get(l, 5)', 'NULL'],
    ['try_element_at(l, 5)', 'NULL'],
    ["m['k']", '9'],
    ['m.k', '9'],
    ["m['none']", 'NULL'],
    ['ls.x', '[1, 2]'],
    ['ls[1].x', '2'],
    ['named_struct("a", 1).a', '1'],
    // Time.
    ['current_date()', '2024-02-29'],
    ['current_timestamp()', '2024-02-29 10:00:00.5+00'],
    ['year(ts) * 100 + month(ts)', '202403'],
    ['dayofweek(dt)', '1'],
    ['weekday(dt)', '6'],
    ['EXTRACT(HOUR FROM ts)', '14'],
    ['EXTRACT(SECOND FROM ts)', '6.789000'],
    ['date_add(dt, 30)', '2024-04-09'],
    ["date_sub('2024-03-01', 1)", '2024-02-29'],
    ['datediff(dt, current_date())', '10'],
    ["dt - DATE '2024-03-01' = INTERVAL 9 DAYS", 'true'],
    ['dt + INTERVAL 1 MONTH', '2024-04-10'],
    ['dt + 1', '2024-03-11'],
    ["dt + INTERVAL '1' HOUR", '2024-03-10 01:00:00+00'],
    ["ts - INTERVAL '1 10:00:00' DAY TO SECOND", '2024-03-09 04:05:06.789+00'],
    ["add_months('2024-01-31', 1)", '2024-02-29'],
    ['last_day(dt)', '2024-03-31'],
    ["trunc(dt, 'MM')", '2024-03-01'],
    ["date_trunc('HOUR', ts)", '2024-03-10 14:00:00+00'],
    ["date_format(ts, 'yyyy/MM/dd HH:mm:ss.SSS')", '2024/03/10 14:05:06.789'],
    ['date_format(dt, "d \'of\' MMMM")', '10 of March'],
    ["to_date('10.03.2024', 'dd.MM.yyyy')", '2024-03-10'],
    ["to_timestamp('2024-03-10 01:02:03')", '2024-03-10 01:02:03+00'],
    ["unix_timestamp('1970-01-02', 'yyyy-MM-dd')", '86400'],
    ['unix_timestamp(ts)', '1710079506'],
    ['from_unixtime(0)', '1970-01-01 00:00:00'],
    ['unix_micros(ts)', '1710079506789000'],
    ['timestamp_millis(1500)', '1970-01-01 00:00:01.5+00'],
    ["datediff(HOUR, ntz, TIMESTAMP_NTZ '2024-03-10 16:05:00')", '1'],
    // Text.
    ['upper(v) || lower(v)', 'HELLOhello'],
    ["length('é') + octet_length('é')", '3'],
    ['length(bin)', '2'],
    ['substring(v, 2, 3)', 'ell'],
    ['substring(v, -3)', 'llo'],
    ['substring(v, 0, 2)', 'He'],
    ['substring(v FROM 2 FOR 2)', 'el'],
    ["instr(v, 'l')", '3'],
    ["locate('l', v, 4)", '4'],
    ["position('z' IN v)", '0'],
    ["trim('  a ') || '|'", 'a|'],
    ["trim(LEADING 'x' FROM 'xax')", 'ax'],
    ["lpad(v, 7, '*')", '**Hello'],
    ["replace(v, 'l', 'L')", 'HeLLo'],
    ["concat('a', 1, 'b')", 'a1b'],
    ["concat('a', nv)", 'NULL'],
    ["concat_ws('-', 'a', nv, lv, 1)", 'a-a-b-1'],
    ["array_join(split('a,b,c', ','), '|')", 'a|b|c'],
    ["array_join(split('a1b22c', '[0-9]+'), '|')", 'a|b|c'],
    ["array_join(split('a,b,c', ',', 2), '|')", 'a|b,c'],
    ["substring_index('a.b.c', '.', 2)", 'a.b'],
    ["substring_index('a.b.c', '.', -2)", 'b.c'],
    ["regexp_replace('a1b2', '([0-9])', '<$1>')", 'a<1>b<2>'],
    ["regexp_extract('ab12', '([a-z]+)([0-9]+)', 2)", '12'],
    ["initcap('ab CD')", 'Ab Cd'],
    ["repeat('ab', 2) || reverse('ab')", 'ababba'],
    ["startswith(v, 'He') AND endswith(v, 'lo') AND contains(v, 'l')", 'true'],
    ["md5('a')", '0cc175b9c0f1b6a831c399e269772661'],
    ["sha2('a', 256)", 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'],
    ["hex('AZ') || hex(255)", '415AFF'],
    ["CAST(unbase64(base64('x')) AS STRING)", 'x'],
    ["ascii('A') + length(chr(66))", '66'],
    ['get_json_object(\'{"a":{"b":5}}\', \'$.a.b\')', '5'],
    // Numbers.
    ['abs(i) + sign(i)', '2'],
    ['ceil(d) * 10 + floor(d)', '32'],
    ['ceil(dec)', '13'],
    ['round(2.5D) + round(-2.5D)', '0'],
    ['round(1234.567D, 1)', '1234.6'],
    ['bround(2.5D)', '2'],
    ['sqrt(16) + power(2, 3)', '12'],
    ['sqrt(-1D)', 'NaN'],
    ['ln(0)', 'NULL'],
    ['log(2, 8)', '3'],
    ['mod(7, 4) + pmod(-7, 4)', '4'],
    ['greatest(1, n, 3) + least(n, 2)', '5'],
    ['try_divide(1, 0)', 'NULL'],
    ['factorial(5)', '120'],
    // Choices.
    ["nvl(nv, 'x') || ifnull(nv, 'y') || coalesce(nv, NULL, 'z')", 'xyz'],
    ['nvl2(n, 1, 2) + nullif(1, 2)', '3'],
    ["if(i < 0, 'neg', 'pos')", 'neg'],
    ['isnan(nan) AND NOT isnan(n)', 'true'],
    // Lists and maps.
    ['size(l) + size(m) + cardinality(ls)', '6'],
    ['size(NULL)', 'NULL'],
    ['array(1, 2)[1]', '2'],
    ["map('a', 1, 'b', 2)['b']", '2'],
    ["struct(1 AS x, 'y' AS y).y", 'y'],
    ['element_at(l, -1)', '3'],
    ["element_at(m, 'k')", '9'],
    ['array_contains(l, 2)', 'true'],
    ['array_contains(ln, 2)', 'NULL'],
    ['array_position(l, 9)', '0'],
    ['transform(l, x -> x * 2)', '[2, 4, 6]'],
    ['transform(l, (x, i) -> x * 10 + i)', '[10, 21, 32]'],
    ['filter(l, x -> x > 1)', '[2, 3]'],
    ['exists(l, x -> x = 3) AND NOT forall(l, x -> x > 1)', 'true'],
    ['aggregate(l, 10, (acc, x) -> acc + x)', '16'],
    ['transform(l, id -> id + t.id)', '[8, 9, 10]'],
    ['transform(l, x -> aggregate(l, 0, (acc, y) -> acc + x * y))', '[6, 12, 18]'],
    ['sort_array(array(3, NULL, 1))', '[NULL, 1, 3]'],
    ['sort_array(array(3, NULL, 1), false)', '[3, 1, NULL]'],
    ['array_sort(array(3, NULL, 1))', '[1, 3, NULL]'],
    ["array_join(lv, ',', '?')", 'a,?,b'],
    ['slice(l, -2, 2)', '[2, 3]'],
    ['sequence(1, 5, 2)', '[1, 3, 5]'],
    ['array_union(l, array(3, 4))', '[1, 2, 3, 4]'],
    ['array_except(array(3, 1, 2, 3), array(2))', '[3, 1]'],
    ['array_intersect(array(3, 1, 3), l)', '[3, 1]'],
    ['array_distinct(array(3, NULL, 1, 3, NULL))', '[3, NULL, 1]'],
    ['flatten(array(l, array(9)))', '[1, 2, 3, 9]'],
    ['map_keys(m)[0]', 'k'],
    ['array_max(l) + array_min(l)', '4'],
  ])('%s is %s', async (text, expected) => {
    expect(await value(text)).toBe(expected);
  });

  it.each([
    ['1 / 0', 'DIVIDE_BY_ZERO'],
    ['id / (id - 7)', 'DIVIDE_BY_ZERO'],
    ['1 div 0', 'DIVIDE_BY_ZERO'],
    ['1 % 0', 'REMAINDER_BY_ZERO'],
    ["CAST('1.5' AS INT)", 'CAST_INVALID_INPUT'],
    ["id = 'x'", 'CAST_INVALID_INPUT'],
    ['CAST(300 AS TINYINT)', 'out of range'],
    ['l[5]', 'INVALID_ARRAY_INDEX'],
    ['l[i]', 'INVALID_ARRAY_INDEX'],
    ['element_at(l, 4)', 'INVALID_ARRAY_INDEX_IN_ELEMENT_AT'],
    ['element_at(l, 0)', 'INVALID_INDEX_OF_ZERO'],
    ['2147483647 + 1', 'overflow'],
    ["raise_error('own words')", 'own words'],
  ])('%s is an error that says %s', async (text, message) => {
    await expect(value(text)).rejects.toThrow(new RegExp(message, 'i'));
  });
});

describe('aggregates and windows', () => {
  const rows = "SELECT * FROM (VALUES (1, 'a', CAST(1.5 AS DECIMAL(5,2))), (1, 'b', 2.5), (2, NULL, NULL)) r(g, w, x)";
  const columns = parseSchema('g INT, w STRING, x DECIMAL(5,2)');
  it.each([
    ['count(*)', '3'],
    ['count(w)', '2'],
    ['count(DISTINCT g)', '2'],
    ['count(DISTINCT g, w)', '2'],
    ['count(*) FILTER (WHERE g = 1)', '2'],
    ['sum(g)', '4'],
    ['sum(x)', '4.00'],
    ['avg(x)', '2.000000'],
    ['avg(g)', '1.3333333333333333'],
    ['min(w) || max(w)', 'ab'],
    ['sort_array(collect_list(g))', '[1, 1, 2]'],
    ['sort_array(collect_set(g))', '[1, 2]'],
    ['collect_list(w) FILTER (WHERE g = 2)', '[]'],
    ['first(w, true)', 'a'],
    ['last(w) IGNORE NULLS', 'b'],
    ['percentile_approx(g, 0.5)', '1'],
    ['approx_count_distinct(g)', '2'],
    ['max_by(w, g) IS NULL', 'true'],
    ['stddev(g) = sqrt(variance(g))', 'true'],
    ['bool_and(g > 0) AND any(g > 1)', 'true'],
    ['count_if(g = 1)', '2'],
  ])('%s is %s', async (text, expected) => {
    expect(await engine.values(text, columns, rows)).toEqual([expected]);
  });

  it.each([
    ['row_number() OVER (PARTITION BY g ORDER BY w DESC)', ['1', '2', '1']],
    ['sum(g) OVER (ORDER BY g ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)', ['1', '2', '4']],
    ['lag(g, 1, 0) OVER (ORDER BY g, w)', ['0', '1', '1']],
    ['first_value(w) OVER (ORDER BY w)', ['NULL', 'NULL', 'NULL']],
    ['rank() OVER (ORDER BY g)', ['1', '1', '3']],
  ])('%s gives a value for each row', async (text, expected) => {
    expect((await engine.values(text, columns, rows)).toSorted()).toEqual(expected.toSorted());
  });
});

describe('refusals', () => {
  const sqlOf = (text: string): string => expressionSql(bindExpression(parseExpression(text), [{ schema }]), ([name = '']) => name);
  it.each([
    ['uper(v)', 'UNRESOLVED_ROUTINE', '42883'],
    ['substring(v)', 'WRONG_NUM_ARGS.WITHOUT_SUGGESTION', '42605'],
    ['explode(l)', 'UNSUPPORTED_GENERATOR.OUTSIDE_SELECT', '42K0E'],
    ['monotonically_increasing_id()', 'UNSUPPORTED_FUNCTION', '0A000'],
    ['row_number()', 'WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE', '42601'],
    ["date_format(ts, 'QQQQQ')", 'INVALID_PARAMETER_VALUE', '22023'],
    ['id = :missing', 'UNBOUND_SQL_PARAMETER', '42P02'],
    ['CAST(id AS BINARY)', 'DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION', '42K09'],
  ])('%s is refused with %s', (text, errorClass, sqlState) => {
    expect(() => sqlOf(text)).toThrow(expect.objectContaining({ errorClass, sqlState }));
  });

  it('an unknown function names the nearest known one', () => {
    expect(() => sqlOf('uper(v)')).toThrow(expect.objectContaining({ hint: 'did you mean upper?' }));
  });

  it('SQL that would outgrow its limit is refused before it is built', () => {
    let text = 'd';
    for (let depth = 0; depth < 60; depth++) text = `(1 / ${text})`;
    expect(() => sqlOf(text)).toThrow(expect.objectContaining({ errorClass: 'EXPRESSION_TOO_LARGE' }));
  });
});

it('every scalar function of the table exists in the engine', async () => {
  const missing: string[] = [];
  const samples = ['id', 'v', 'd', 'dt', 'ts', 'l', 'm', 'b', 'bin', "'year'", 'x -> true', '1'];
  // Written between operands, or only beside GROUP BY; `system.bucket` and numbers of a seed need functions that this connection lacks.
  const elsewhere = /^(<<|>>|>>>|grouping|grouping_id|system[.]bucket|#randn?)$/;
  for (const name of functionNames.filter((each) => !elsewhere.test(each))) {
    const found = await bindsWithSome(name, samples);
    if (!found) missing.push(name);
  }
  expect(missing).toEqual([]);
});

/** Whether the engine plans a call of the function with one, two or three arguments of some types. */
async function bindsWithSome(name: string, samples: readonly string[]): Promise<boolean> {
  const lists = [[], ...samples.map((one) => [one]), ...samples.flatMap((one) => samples.map((other) => [one, other]))];
  const threes = [
    ['v', "'a'", '1'],
    ['v', "'a'", "'b'"],
    ['l', '0', '(a, x) -> a + x'],
    ['1', '2', '3'],
    ['true', '1', '2'],
    ['2024', '1', '2'],
    ['YEAR FROM ts'],
    ['DAY', 'ts', 'ts'],
    ['l', '1', '1'],
    ['dt', "'yyyy'"],
    ['array(l)'],
    ["array(struct('k' AS k, 1 AS v))"],
    ['v', "'a INT'"],
    ['v', "'99'"],
    ['2024', '1', '2', '3', '4', '5'],
    ['5.3', '0.2', '10.6', '5'],
    ['l', 'l', '(a, x) -> a + x'],
    ['m', '(k, x) -> x'],
    ['m', '(k, x) -> true'],
    ['m', 'm', '(k, x, y) -> x'],
    ['16', 'id'],
    ['parse_json(v)'],
    ['parse_json(v)', "'$.a'", "'int'"],
  ];
  for (const args of [...lists, ...threes]) {
    for (const over of ['', ' OVER (ORDER BY id)']) {
      try {
        const bound = bindExpression(parseExpression(`${name}(${args.join(', ')})${over}`), [{ alias: 't', schema }]);
        await engine.connection.prepare(`SELECT ${expressionSql(bound, (path) => `t."${path[0] ?? ''}"`)} FROM (${row}) t`);
        return true;
      } catch {
        // Other arguments may fit.
      }
    }
  }
  return false;
}
