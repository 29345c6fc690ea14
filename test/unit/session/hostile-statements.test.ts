import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outputName } from '../../../src/expr/output-name.ts';
import { parseExpression } from '../../../src/expr/parse/parse-expression.ts';
import { splitSubqueries } from '../../../src/session/sql/split-subqueries.ts';
import { temporarySession } from '../../support/temporary-session.ts';

// Story: whoever writes SQL may ask for more than there is; the answer has a name, and the process lives.
describe('statements that ask for too much', () => {
  it.each([
    ['sequence', 'SELECT size(sequence(1, 300000000))'],
    ['sequence', 'SELECT size(sequence(1, 300000000 + n)) FROM VALUES (1), (2) AS t(n)'],
    ['sequence', "SELECT size(sequence(DATE '0001-01-01', DATE '9999-01-01', INTERVAL 1 SECOND))"],
    ['array_repeat', "SELECT size(array_repeat('x', 300000000))"],
    ['array_repeat', "SELECT size(array_repeat('x', 300000000 + n)) FROM VALUES (1), (2) AS t(n)"],
    ['array_repeat', "SELECT size(array_repeat(array_repeat(array_repeat('x', 1000), 1000), 1000))"],
    ['repeat', "SELECT length(repeat('x', 1000000000))"],
    ['repeat', "SELECT length(repeat('xyz', 1000000000 + n)) FROM VALUES (1), (2) AS t(n)"],
    ['space', 'SELECT length(space(1000000000))'],
    ['lpad', "SELECT length(lpad('x', 1000000000, 'y'))"],
    ['rpad', "SELECT length(rpad('x', 1000000000 + n, 'y')) FROM VALUES (1), (2) AS t(n)"],
  ])('are told how much %s would make and how much it may: %s', async (name, statement) => {
    await using made = await temporarySession();
    const before = process.memoryUsage().rss;
    await expect(made.session.sql(statement).then((frame) => frame.collect())).rejects.toMatchObject({
      message: expect.stringMatching(
        new RegExp(`The function ${name} would make [\\d.e+]+ (elements|bytes), at most \\d+ are made`),
      ) as string,
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000);
  });

  it.each([
    [
      'repeat',
      "SELECT sum(length(repeat('x', CAST(60000000 + id AS INT)))) FROM range(1000)",
      /The function repeat would make \d+ bytes in \d+ rows at a time/,
    ],
    [
      'rpad',
      "SELECT max(rpad('x', CAST(60000000 + id AS INT), 'y')) FROM range(1000)",
      /The function rpad would make \d+ bytes in \d+ rows at a time/,
    ],
    [
      'sequence',
      'SELECT sum(size(sequence(1, 4000000 + id))) FROM range(1000)',
      /The function sequence would make \d+ elements in \d+ rows/,
    ],
    ['a constant', "SELECT repeat('x', 60000000) FROM range(1000)", /The function repeat would make \d+ bytes in \d+ rows at a time/],
  ])('are told so when many large values of %s come together', async (_, statement, message) => {
    await using made = await temporarySession();
    const before = process.memoryUsage().rss;
    await expect(made.session.sql(statement).then((frame) => frame.collect())).rejects.toMatchObject({
      message: expect.stringMatching(message) as string,
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(1_000_000_000);
  });

  it('compare no texts that would hold the thread for long', async () => {
    await using made = await temporarySession();
    const compared = (length: number): Promise<unknown> =>
      made.session
        .sql(`SELECT levenshtein(repeat('ab', CAST(${length} + id AS INT)), repeat('ba', ${length})) FROM range(2)`)
        .then((frame) => frame.collect());
    await expect(compared(1_000_000)).rejects.toMatchObject({
      errorClass: 'INVALID_PARAMETER_VALUE.LENGTH',
      message: expect.stringMatching(/`levenshtein` is invalid: .* take \d+ steps, at most 1073741824 are taken/) as string,
    });
    await expect(compared(100)).resolves.toHaveLength(2);
  });

  it('take time by their length, however long a list or a line is', () => {
    const since = performance.now();
    const list = Array.from({ length: 300_000 }, (_, index) => index).join(',');
    const { main } = splitSubqueries(`SELECT 5 IN (${list}) -- ${' '.repeat(10_000_000)}`);
    expect(main).toHaveLength(600_005);
    const value = parseExpression(`5 IN (${list})`);
    expect(outputName(value)).toBe(`(5 IN (${list.replaceAll(',', ', ')}))`);
    expect(performance.now() - since).toBeLessThan(20_000);
  });

  it('do not have texts of theirs taken for marks of ours', () => {
    const doubled = Array.from({ length: 40 }, (_, index) => `'bare_text_${index}_bare_text_${index}_'`);
    const name = outputName(parseExpression(`concat('x', ${doubled.join(', ')})`));
    expect(name).toBe(`concat(x, ${doubled.join(', ').replaceAll("'", '')})`);
  });

  it.each([
    ['set operations', (count: number) => Array.from({ length: count }, (_, at) => `SELECT ${at} AS c`).join(' UNION ALL ')],
    ['joins', (count: number) => `SELECT 1 FROM ${Array.from({ length: count }, () => 'range(1)').join(', ')}`],
    ['joins', (count: number) => `SELECT 1 FROM range(1)${' CROSS JOIN range(1)'.repeat(count)}`],
  ])('are not chains of thousands of %s', async (what, statement) => {
    await using made = await temporarySession();
    await expect(made.session.sql(statement(20_000))).rejects.toMatchObject({
      errorClass: 'QUERY_TOO_LONG',
      message: expect.stringContaining(`a query has more than 2000 ${what} in a row`) as string,
    });
    await expect(made.session.sql(statement(100)).then((frame) => frame.collect())).resolves.toBeDefined();
  });

  it('get what is within the bounds', async () => {
    await using made = await temporarySession();
    const frame = await made.session.sql(
      "SELECT size(sequence(1, 1000000)) AS s, size(sequence(5, 1, -2)) AS d, size(array_repeat('x', 1000)) AS a, length(repeat('xy', 1000000)) AS r, repeat('x', -1) AS n, lpad('x', 3, 'y') AS l, size(sequence(DATE '2024-01-01', DATE '2024-03-01', INTERVAL 1 MONTH)) AS m, size(sequence(DATE '0001-01-01', DATE '9999-12-31', INTERVAL 1 DAY)) AS y",
    );
    expect(await frame.collect()).toEqual([{ s: 1_000_000, d: 3, a: 1000, r: 2_000_000, n: '', l: 'yyx', m: 3, y: 3_652_059 }]);
  });
});

describe('statements that cannot be meant', () => {
  it('restore no version that no table reaches, and make no generated column of a function that there is not', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const table = `delta.\`${join(made.directory, 't')}\``;
    await session.sql(`CREATE TABLE ${table} (id BIGINT) USING delta`);
    await expect(session.sql(`RESTORE TABLE ${table} TO VERSION AS OF 9223372036854775808`)).rejects.toMatchObject({
      errorClass: 'DELTA_CANNOT_RESTORE_TABLE_VERSION',
      message: expect.stringContaining('9223372036854775808. Available versions: [0, 0]') as string,
    });
    const generated = `delta.\`${join(made.directory, 'g')}\``;
    await expect(
      session.sql(`CREATE TABLE ${generated} (id BIGINT, home STRING GENERATED ALWAYS AS (getenv('HOME'))) USING delta`),
    ).rejects.toMatchObject({ errorClass: 'UNRESOLVED_ROUTINE', message: expect.stringContaining('getenv') as string });
    await expect(session.sql(`SELECT * FROM ${generated}`)).rejects.toThrow();
    // A column that is added later is no way around it.
    for (const added of ["home STRING GENERATED ALWAYS AS (getenv('HOME'))", "home STRING DEFAULT getenv('HOME')"])
      await expect(session.sql(`ALTER TABLE ${table} ADD COLUMN (${added})`), added).rejects.toMatchObject({
        errorClass: expect.stringMatching(/^(UNRESOLVED_ROUTINE|WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN)/) as string,
      });
    const properties = "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')";
    await session.sql(`ALTER TABLE ${table} SET ${properties}`);
    await expect(session.sql(`ALTER TABLE ${table} ALTER COLUMN id SET DEFAULT getenv('HOME')`)).rejects.toMatchObject({
      errorClass: 'UNRESOLVED_ROUTINE',
    });
    expect(await (await session.sql(`SELECT * FROM ${table}`)).columns).toEqual(['id']);
  });

  it('are answered beside a commit whose metrics nest without end', async () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    await using made = await temporarySession();
    const { session } = made;
    const path = join(made.directory, 't');
    await session.sql(`CREATE TABLE delta.\`${path}\` (id BIGINT) USING delta`);
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(path, '_delta_log', '00000000000000000001.json'), `{"commitInfo":{"operationMetrics":{"a":${deep}}}}\n`);
    await expect(session.sql(`DESCRIBE HISTORY delta.\`${path}\``).then((frame) => frame.collect())).rejects.toMatchObject({
      code: 'DELTA_LOG_CORRUPT',
      message: expect.stringContaining('00000000000000000001.json line 1') as string,
    });
  });
});
