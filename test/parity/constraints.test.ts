import { describe, expect, it } from 'vitest';
import { col, DeltaTable } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

/** Rows that a table does not take: none of the write stays. */
describe('refused writes', () => {
  const bench = deltaBench();

  /** Expects a write to be refused and the table to be as it was. */
  async function expectRefused(name: string, write: () => Promise<unknown>, error: Readonly<Record<string, unknown>>): Promise<void> {
    const { version, log, session, path } = bench();
    const before = [await version(name), log(name), await session.read.load(path(name)).count()];
    await expect(write()).rejects.toMatchObject(error);
    expect([await version(name), log(name), await session.read.load(path(name)).count()]).toEqual(before);
    await bench().agree(name, { engines: ['delta-rs'], allowOrphans: false });
  }

  async function plainTable(name: string): Promise<unknown> {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT, v STRING) USING delta`);
    await sql(`INSERT INTO ${at(name)} VALUES (1, 'a')`);
    const [detail] = await sql(`DESCRIBE DETAIL ${at(name)}`);
    return detail?.['id'];
  }

  const mismatch = { errorClass: 'DELTA_METADATA_MISMATCH', sqlState: '42KDG' };

  it('B19: an append with an extra column is refused with both schemas in the text', async () => {
    const { session, path } = bench();
    const id = await plainTable('extra');
    const wider = session.createDataFrame([{ id: 2, v: 'b', more: 0.5 }], 'id INT, v STRING, more DOUBLE');
    const message = `A schema mismatch detected when writing to the Delta table (Table ID: ${String(id)}).
To enable schema migration using DataFrameWriter or DataStreamWriter, please set:
'.option("mergeSchema", "true")'.
For other operations, set the session configuration
spark.databricks.delta.schema.autoMerge.enabled to "true". See the documentation
specific to the operation for details.

Table schema:
root
-- id: integer (nullable = true)
-- v: string (nullable = true)


Data schema:
root
-- id: integer (nullable = true)
-- v: string (nullable = true)
-- more: double (nullable = true)
`;
    const append = wider.write.format('delta').mode('append');
    await expectRefused('extra', () => append.save(path('extra')), { ...mismatch, name: 'AnalysisException', message });
    await expectRefused('extra', () => append.option('overwriteSchema', 'true').save(path('extra')), { ...mismatch, message });
    await append.option('mergeSchema', 'true').save(path('extra'));
    expect(await bench().rows('extra')).toEqual([
      { id: 1, v: 'a', more: null },
      { id: 2, v: 'b', more: 0.5 },
    ]);
  });

  it('B19: a column less is null, another type does not merge', async () => {
    const { session, path } = bench();
    await plainTable('types');
    await session
      .createDataFrame([{ id: 2 }], 'id INT')
      .write.format('delta')
      .mode('append')
      .save(path('types'));
    expect(await bench().rows('types')).toEqual([
      { id: 1, v: 'a' },
      { id: 2, v: null },
    ]);
    const other = session.createDataFrame([{ id: [1], v: 'b' }], 'id ARRAY<INT>, v STRING');
    await expectRefused('types', () => other.write.format('delta').mode('append').save(path('types')), {
      errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS',
      sqlState: '22005',
      message: expect.stringContaining("Failed to merge fields 'id' and 'id'") as string,
    });
  });

  it('B19: an overwrite with other columns, or other partitions, needs overwriteSchema', async () => {
    const { session, sql, at, path } = bench();
    await plainTable('replaced');
    const other = session.createDataFrame([{ z: true }], 'z BOOLEAN');
    const overwrite = other.write.format('delta').mode('overwrite');
    await expectRefused('replaced', () => overwrite.save(path('replaced')), {
      ...mismatch,
      message: expect.stringMatching(/Data schema:[^]*-- z: boolean[^]*\.option\("overwriteSchema", "true"\)/) as string,
    });
    await overwrite.option('overwriteSchema', 'true').save(path('replaced'));
    expect(await bench().rows('replaced', 'z')).toEqual([{ z: true }]);
    await sql(`CREATE TABLE ${at('parts')} (id INT, p STRING, q STRING) USING delta PARTITIONED BY (p, q)`);
    const rows = session.createDataFrame([{ id: 1, p: 'a', q: 'b' }], 'id INT, p STRING, q STRING');
    await expectRefused('parts', () => rows.write.format('delta').partitionBy('p').mode('append').save(path('parts')), {
      ...mismatch,
      message: expect.stringContaining('Given: [`p`]\nTable: [`p`, `q`]') as string,
    });
  });

  it('B19: INSERT with another number of columns, or values that do not fit, is refused in SQL', async () => {
    const { sql, at } = bench();
    await plainTable('inserted');
    await expectRefused('inserted', () => sql(`INSERT INTO ${at('inserted')} VALUES (1, 'a', 2)`), {
      errorClass: expect.stringMatching(/INSERT_COLUMN_ARITY_MISMATCH|DELTA_METADATA_MISMATCH/) as string,
    });
    await expectRefused('inserted', () => sql(`INSERT INTO ${at('inserted')} VALUES (3000000000, 'a')`), {
      errorClass: 'CAST_OVERFLOW_IN_TABLE_INSERT',
      sqlState: '22003',
      message: expect.stringContaining(
        'Fail to assign a value of "BIGINT" type to the "INT" type column or variable `id` due to an overflow',
      ) as string,
    });
    await expectRefused('inserted', () => sql(`INSERT INTO ${at('inserted')} VALUES ('notint', 'a')`), {
      errorClass: 'CAST_INVALID_INPUT',
      sqlState: '22018',
      message: expect.stringContaining(`The value 'notint' of the type "STRING" cannot be cast to "INT"`) as string,
    });
  });

  /** As the fixture of the reference: NOT NULL, a CHECK and a generated column. */
  async function checkedTable(name: string): Promise<void> {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at(name)} (
      id INT NOT NULL, ts TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), amount DOUBLE) USING delta`);
    await sql(`ALTER TABLE ${at(name)} ADD CONSTRAINT positive CHECK (amount > 0)`);
    await sql(
      `INSERT INTO ${at(name)} (id, ts, amount) VALUES (1, TIMESTAMP '2024-02-29 10:00:00', 2.5), (2, TIMESTAMP '2024-03-01 10:00:00', 1)`,
    );
  }

  const broken = { errorClass: 'DELTA_VIOLATE_CONSTRAINT_WITH_VALUES', sqlState: '23001' };

  it('B20: a CHECK that is false or null rejects the whole write, naming the row', async () => {
    const { sql, at, session, path } = bench();
    await checkedTable('checked');
    const insert =
      (values: string): (() => Promise<unknown>) =>
      () =>
        sql(`INSERT INTO ${at('checked')} (id, ts, amount) VALUES ${values}`);
    await expectRefused('checked', insert("(3, TIMESTAMP '2024-03-01 10:00:00', 7), (4, TIMESTAMP '2024-03-01 10:00:00', -1)"), {
      ...broken,
      message: 'CHECK constraint positive (amount > 0) violated by row with values:\n - amount : -1.0',
    });
    await expectRefused('checked', insert("(3, TIMESTAMP '2024-03-01 10:00:00', NULL)"), {
      ...broken,
      message: 'CHECK constraint positive (amount > 0) violated by row with values:\n - amount : null',
    });
    const bad = session.createDataFrame([{ id: 5, amount: -3 }], 'id INT, amount DOUBLE');
    await expectRefused('checked', () => bad.write.format('delta').mode('append').save(path('checked')), broken);
  });

  it('B20: UPDATE and MERGE are held to constraints too', async () => {
    const { sql, at, session, path } = bench();
    await checkedTable('updated');
    await expectRefused('updated', () => sql(`UPDATE ${at('updated')} SET amount = 0 WHERE id = 1`), {
      ...broken,
      message: 'CHECK constraint positive (amount > 0) violated by row with values:\n - amount : 0.0',
    });
    const table = await DeltaTable.forPath(session, path('updated'));
    await expectRefused('updated', () => table.update({ set: { amount: col('amount').negate() } }), broken);
    const source = session.createDataFrame([{ id: 9, amount: -9 }], 'id INT, amount DOUBLE').alias('s');
    const merge = table.alias('t').merge(source, 't.id = s.id');
    await expectRefused('updated', () => merge.whenNotMatchedInsert({ values: { id: 's.id', amount: 's.amount' } }).execute(), broken);
  });

  it('B20: NOT NULL holds for columns and for members of structs, a null struct included', async () => {
    const { sql, at } = bench();
    await checkedTable('required');
    await expectRefused('required', () => sql(`INSERT INTO ${at('required')} (id, amount) VALUES (NULL, 1)`), {
      errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
      sqlState: '23502',
      message: 'NOT NULL constraint violated for column: id.',
    });
    await sql(`CREATE TABLE ${at('nested')} (id INT, st STRUCT<n: INT NOT NULL>) USING delta`);
    for (const value of ['NULL', "named_struct('n', CAST(NULL AS INT))"]) {
      await expectRefused('nested', () => sql(`INSERT INTO ${at('nested')} SELECT 1, CAST(${value} AS STRUCT<n: INT>)`), {
        errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
        message: 'NOT NULL constraint violated for column: st.n.',
      });
    }
  });

  it('B20: generated columns are computed, and a value that contradicts them is refused', async () => {
    const { sql, at } = bench();
    await checkedTable('generated');
    expect(await sql(`SELECT id, day FROM ${at('generated')} ORDER BY id`)).toEqual([
      { id: 1, day: '2024-02-29' },
      { id: 2, day: '2024-03-01' },
    ]);
    await expectRefused(
      'generated',
      () => sql(`INSERT INTO ${at('generated')} VALUES (3, TIMESTAMP '2024-02-29 10:00:00', DATE '2020-01-01', 1)`),
      {
        ...broken,
        message: expect.stringMatching(
          /^CHECK constraint Generated Column \(day <=> CAST\(ts AS DATE\)\) violated by row with values:\n - day : .+\n - ts : /,
        ) as string,
      },
    );
    await sql(`UPDATE ${at('generated')} SET ts = TIMESTAMP '2024-04-01 00:00:00' WHERE id = 1`);
    expect(await sql(`SELECT day FROM ${at('generated')} WHERE id = 1`)).toEqual([{ day: '2024-04-01' }]);
    await bench().agree('generated');
  });

  it('B20: invariants stored in columns by older writers are kept', async () => {
    const { session, path, sql, at } = bench();
    const metadata = { 'delta.invariants': '{"expression":{"expression":"id > 3"}}' };
    const schema = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'integer' }, nullable: true, metadata }] } as const;
    await session
      .createDataFrame([{ id: 5 }], schema)
      .write.format('delta')
      .save(path('invariant'));
    await expectRefused('invariant', () => sql(`INSERT INTO ${at('invariant')} VALUES (4), (2)`), {
      ...broken,
      message: expect.stringMatching(/id > 3.*violated by row with values:\n - id : 2/) as string,
    });
    await sql(`INSERT INTO ${at('invariant')} VALUES (4)`);
  });

  it('B20: a constraint is refused when rows break it or its columns are not there, and can be dropped', async () => {
    const { sql, at } = bench();
    await checkedTable('altered');
    const alter = (what: string): Promise<unknown> => sql(`ALTER TABLE ${at('altered')} ${what}`);
    await expectRefused('altered', () => alter('ADD CONSTRAINT small CHECK (amount < 1)'), {
      errorClass: 'DELTA_NEW_CHECK_CONSTRAINT_VIOLATION',
      sqlState: '23512',
      message: expect.stringMatching(/^2 rows in .+ violate the new CHECK constraint \(amount < 1\)/) as string,
    });
    await expectRefused('altered', () => alter('ADD CONSTRAINT odd CHECK (nope > 0)'), {
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      sqlState: '42703',
      message: expect.stringContaining('`nope`') as string,
    });
    await expectRefused('altered', () => alter('ADD CONSTRAINT positive CHECK (amount > 1)'), {
      errorClass: 'DELTA_CONSTRAINT_ALREADY_EXISTS',
    });
    await expectRefused('altered', () => alter('DROP CONSTRAINT missing'), {
      errorClass: 'DELTA_CONSTRAINT_DOES_NOT_EXIST',
      sqlState: '42704',
    });
    await alter('DROP CONSTRAINT IF EXISTS missing');
    await alter('DROP CONSTRAINT positive');
    await sql(`INSERT INTO ${at('altered')} (id, amount) VALUES (7, -7)`);
    await bench().agree('altered');
  });

  it('B20: identity columns count up, and take no given values', async () => {
    const { sql, at } = bench();
    await sql(
      `CREATE TABLE ${at('identity')} (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), v STRING) USING delta`,
    );
    await sql(`INSERT INTO ${at('identity')} (v) VALUES ('a')`);
    await sql(`INSERT INTO ${at('identity')} (v) VALUES ('b')`);
    expect(await bench().rows('identity')).toEqual([
      { id: 10n, v: 'a' },
      { id: 15n, v: 'b' },
    ]);
    await expectRefused('identity', () => sql(`INSERT INTO ${at('identity')} VALUES (1, 'c')`), {
      errorClass: 'DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED',
      sqlState: '42808',
      message: expect.stringContaining('Providing values for GENERATED ALWAYS AS IDENTITY column id is not supported.') as string,
    });
  });

  it('B20: an append-only table takes no update and no delete', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('appended')} (id INT) USING delta TBLPROPERTIES (delta.appendOnly = true)`);
    await sql(`INSERT INTO ${at('appended')} VALUES (1)`);
    const refused = { errorClass: 'DELTA_CANNOT_MODIFY_APPEND_ONLY', sqlState: '42809' };
    await expectRefused('appended', () => sql(`DELETE FROM ${at('appended')}`), refused);
    await expectRefused('appended', () => sql(`UPDATE ${at('appended')} SET id = 2`), refused);
    await expectRefused('appended', () => sql(`INSERT OVERWRITE ${at('appended')} VALUES (3)`), refused);
  });
});
