import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession } from '../../../../src/app/session.ts';
import { type CliRun, type CliSetup, cli } from '../cli-support.ts';

const directory = mkdtempSync(join(tmpdir(), 'tidewater-sql-'));
const openSession = (config: Readonly<Record<string, string>>) =>
  createSession({ config: { 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.engine.threads': '2', ...config } });

/** Every argument after the first is one, blanks and all. */
function sql(args: readonly string[], setup: CliSetup = {}): Promise<CliRun> {
  return cli(['sql', ...args], { ...setup, app: { openSession } });
}

const box = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

beforeAll(async () => {
  const rows = [
    "(1, 'plain', 1.50, DATE'2024-02-29', TIMESTAMP'2024-02-29 12:00:00.000001', X'00FF', ARRAY('x', NULL))",
    '(9007199254740993, \'a "quoted", text\', -0.25, NULL, NULL, NULL, NULL)',
    "(NULL, '', NULL, NULL, NULL, NULL, ARRAY())",
  ];
  const script = `
    CREATE TABLE all_kinds (id BIGINT, name STRING, price DECIMAL(10, 2), day DATE, at TIMESTAMP, bytes BINARY, tags ARRAY<STRING>);
    INSERT INTO all_kinds VALUES ${rows.join(', ')}`;
  expect(await sql([], { input: script })).toMatchObject({ code: 0, err: '' });
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const query = 'SELECT * FROM all_kinds ORDER BY id NULLS LAST';

describe('results', () => {
  it('as a table have a box, numbers at the right and a count', async () => {
    expect(await sql(['-e', 'SELECT id, name FROM all_kinds ORDER BY id NULLS LAST'])).toEqual({
      code: 0,
      err: '',
      out: box(
        '+----------------+----------------+',
        '|              id|name            |',
        '+----------------+----------------+',
        '|               1|plain           |',
        '|9007199254740993|a "quoted", text|',
        '|            NULL|                |',
        '+----------------+----------------+',
        '(3 rows)',
      ),
    });
  });

  it('do not command a terminal: control characters are escapes there, and as they are in a pipe', async () => {
    const hostile = "SELECT '\u001b[2Ja\u009b\u202e' AS v";
    for (const format of ['csv', 'json', 'table']) {
      expect((await sql(['--format', format, '-e', hostile], { terminal: true })).out).not.toMatch(/[\u001b\u009b\u202e]/u);
    }
    expect((await sql(['--format', 'csv', '-e', hostile], { terminal: true })).out).toBe('v\r\n\\u001b[2Ja\\u009b\\u202e\r\n');
    expect((await sql(['--format', 'csv', '-e', hostile])).out).toBe('v\r\n\u001b[2Ja\u009b\u202e\r\n');
  });

  it('as CSV follow RFC 4180, null and empty text apart', async () => {
    const { out } = await sql(['--format', 'csv', '-e', query]);
    expect(out.split('\r\n')).toEqual([
      'id,name,price,day,at,bytes,tags',
      '1,plain,1.50,2024-02-29,2024-02-29 12:00:00.000001,00ff,"[""x"",null]"',
      '9007199254740993,"a ""quoted"", text",-0.25,,,,',
      ',"",,,,,[]',
      '',
    ]);
  });

  it.each([[['--format', 'json', '-e', query]], [['--json', '-e', query]]])('as JSON are exact: %j', async (args) => {
    const { out } = await sql(args);
    expect(out.split('\n')).toEqual([
      '{"id":1,"name":"plain","price":"1.50","day":"2024-02-29","at":"2024-02-29T12:00:00.000001Z","bytes":"00ff","tags":["x",null]}',
      '{"id":"9007199254740993","name":"a \\"quoted\\", text","price":"-0.25","day":null,"at":null,"bytes":null,"tags":null}',
      '{"id":null,"name":"","price":null,"day":null,"at":null,"bytes":null,"tags":[]}',
      '',
    ]);
  });

  it('without rows still have their head', async () => {
    expect((await sql(['-e', 'SELECT 1 AS a WHERE false'])).out).toBe(box('+---+', '|  a|', '+---+', '+---+', '(0 rows)'));
    expect((await sql(['--format', 'csv', '-e', 'SELECT 1 AS a WHERE false'])).out).toBe('a\r\n');
    expect((await sql(['--format', 'json', '-e', 'SELECT 1 AS a WHERE false'])).out).toBe('');
  });

  it('of two columns of a name are a table, and no JSON', async () => {
    expect((await sql(['-e', 'SELECT 1 AS a, 2 AS a'])).out).toContain('|  1|  2|');
    expect(await sql(['--format', 'json', '-e', 'SELECT 1 AS a, 2 AS a'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('error COLUMN_ALREADY_EXISTS (42711)') as string,
    });
  });

  it('of many batches are printed to the last row', async () => {
    const { out } = await sql(['--format', 'csv', '-e', 'SELECT id FROM range(10000)']);
    expect(out.split('\r\n')).toEqual(['id', ...Array.from({ length: 10_000 }, (_, id) => String(id)), '']);
    expect((await sql(['-e', 'SELECT id FROM range(10000)'])).out).toMatch(/\n\|9999\|\n\+-+\+\n\(10,000 rows\)\n$/);
  });

  it('begin another box where the rows need a wider one', async () => {
    const { out } = await sql(['-e', 'SELECT id FROM range(10001)']);
    const wide = out.slice(out.indexOf('+-----+')).split('\n');
    expect(wide.slice(0, 3)).toEqual(['+-----+', '|   id|', '+-----+']);
    expect(wide.slice(-4)).toEqual(['|10000|', '+-----+', '(10,001 rows)', '']);
    expect(out.match(/^\|\s*id\|$/gm)).toHaveLength(2);
    expect(out.split('\n').filter((line) => /^\|\s*\d+\|$/.test(line))).toHaveLength(10_001);
  });

  it('cannot command the terminal', async () => {
    const { out } = await sql(['-e', "SELECT '\\u001b[2J' AS `a\\u001b`"]);
    expect(out).not.toContain('\u001b');
    expect(out).toContain('\\u001b[2J');
  });

  it('that are one text of several lines are printed as they are', async () => {
    expect((await sql(['-e', 'SHOW CREATE TABLE all_kinds'])).out).toMatch(/^CREATE TABLE all_kinds \(\n {2}id BIGINT,\n/);
    expect((await sql(['-e', 'EXPLAIN SELECT * FROM all_kinds'])).out).toMatch(/^== Physical Plan ==\n/);
  });

  it('of statements that change something are their numbers, or nothing', async () => {
    const { code, out } = await sql(['-e', 'CREATE TABLE gone (id INT); INSERT INTO gone VALUES (1); DELETE FROM gone; DROP TABLE gone']);
    expect(code).toBe(0);
    expect(out).toBe(
      box('+-----------------+', '|num_affected_rows|', '+-----------------+', '|                1|', '+-----------------+', '(1 row)'),
    );
  });
});

describe('statements', () => {
  const column = ['--format', 'csv'];

  it('come from -e and -f in the order they are given, and from standard input', async () => {
    const files = { '/work/a.sql': 'SELECT 2 AS a; -- the end' };
    const { out } = await sql([...column, '-e', 'SELECT 1 AS a', '-f', 'a.sql', '-e', 'SELECT 3 AS a'], { files });
    expect(out).toBe('a\r\n1\r\na\r\n2\r\na\r\n3\r\n');
    expect((await sql([...column, '-f', '-'], { input: 'SELECT 4 AS a' })).out).toBe('a\r\n4\r\n');
    expect((await sql(column, { input: 'SELECT 5 AS a;\n' })).out).toBe('a\r\n5\r\n');
    expect(await sql(column, { input: '-- nothing\n' })).toEqual({ code: 0, out: '', err: '' });
  });

  it('of the shell work with -e', async () => {
    expect((await sql([...column, '-e', '\\dt all*'])).out).toBe('namespace,tableName,isTemporary\r\ndefault,all_kinds,false\r\n');
    expect((await sql([...column, '-e', '\\d all_kinds'])).out).toContain('price,"decimal(10,2)",\r\n');
    expect(await sql(['-e', '\\dd'])).toMatchObject({ code: 2, err: expect.stringContaining('did you mean') as string });
  });

  it('after a wrong one are not executed', async () => {
    const { code, out } = await sql([...column, '-e', 'SELECT 1 AS a; SELECT nope; SELECT 2 AS a', '-e', 'SELECT 3 AS a']);
    expect(code).toBe(1);
    expect(out).toBe('a\r\n1\r\n');
  });

  it('are stopped by the signal', async () => {
    const stopped = await sql(['-e', 'SELECT 1'], { signal: AbortSignal.abort('SIGINT') });
    expect(stopped).toMatchObject({ code: 1, out: '' });
  });
});

describe('errors', () => {
  it('show the place, counted from the beginning of the file', async () => {
    const files = { '/work/report.sql': '-- sales\nSELECT 1;\n\n  SELECT *\n  FROM t WHERE ) = 1;\n' };
    expect((await sql(['-f', 'report.sql'], { files })).err).toBe(
      box(
        "error PARSE_SYNTAX_ERROR (42601): Syntax error at or near ')' (report.sql, line 5, column 16): expected the end of the statement",
        '  5 |   FROM t WHERE ) = 1',
        '    |                ^',
      ).replace(/: expected.*$/m, (text) => text),
    );
  });

  it('show the place behind other statements of the line', async () => {
    const { err } = await sql(['-e', 'SELECT 1; SELCT 2']);
    expect(err).toContain('(line 1, column 11)');
    expect(err).toContain('\n    |           ^\nhint  did you mean SELECT?\n');
  });

  it('with --json are one object with place and SQLSTATE', async () => {
    const { err, code } = await sql(['--json', '-e', 'SELCT 2']);
    expect(code).toBe(1);
    expect(JSON.parse(err)).toMatchObject({
      error: {
        code: 'PARSE_SYNTAX_ERROR',
        sqlState: '42601',
        kind: 'invalid',
        place: { line: 1, column: 1 },
        hint: 'did you mean SELECT?',
      },
    });
  });

  it.each([
    [
      ['--conf', 'spark.databricks.delta.optimizeWrite.enable=true', '-e', 'SELECT 1'],
      'did you mean "spark.databricks.delta.optimizeWrite.enabled"',
    ],
    [['--conf', 'novalue', '-e', 'SELECT 1'], 'expected key=value'],
    [['--format', 'xml', '-e', 'SELECT 1'], 'Allowed choices are table, json, csv'],
    [['-f', 'missing.sql'], 'cannot read the file "missing.sql"'],
  ])('of usage end with 2: %j', async (args, message) => {
    const { code, out, err } = await sql(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  it('of a database that is not there end with 1', async () => {
    expect(await sql(['--database', 'nowhere', '-e', 'SELECT 1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('error SCHEMA_NOT_FOUND') as string,
    });
  });
});

describe('the session', () => {
  it('has the warehouse, the database and the configuration of the command line', async () => {
    const warehouse = join(directory, 'other');
    const there = ['--warehouse', warehouse, '--format', 'csv'];
    expect((await sql([...there, '-e', 'CREATE DATABASE shop; CREATE TABLE shop.t (id INT)'])).err).toBe('');
    const { out } = await sql([...there, '--database', 'shop', '--conf', 'spark.app.name=x', '-e', 'SHOW TABLES; SET spark.app.name']);
    expect(out).toBe('namespace,tableName,isTemporary\r\nshop,t,false\r\nkey,value\r\nspark.app.name,x\r\n');
  });

  it('tells how long statements take when asked', async () => {
    expect((await sql(['--timing', '-e', 'SELECT 1; SELECT 2'])).err).toMatch(/^time \d+\.\d{3} s\ntime \d+\.\d{3} s\n$/);
  });
});
