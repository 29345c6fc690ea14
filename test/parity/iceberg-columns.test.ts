import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** ALTER TABLE over the columns and properties of Iceberg tables: definitions alone change. */
describe('columns of Iceberg tables', () => {
  const bench = icebergBench();

  /** Runs statements, and expects them to leave snapshots and data files as they are. */
  async function onlyDefinition(table: string, ...statements: readonly string[]): Promise<void> {
    const state = async (): Promise<unknown> => [await bench().snapshots(`db.${table}`), bench().dataFiles(table)];
    const before = await state();
    for (const statement of statements) await bench().sql(statement);
    expect(await state()).toEqual(before);
  }

  const fieldsOf = async (table: string): Promise<readonly (readonly [string, string])[]> => bench().session.table(`db.${table}`).dtypes;

  it('A08: RENAME COLUMN makes no snapshot, and old files are read under the new name', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.renamed USING iceberg AS SELECT 1 AS id, 'a' AS old");
    await onlyDefinition('renamed', 'ALTER TABLE db.renamed RENAME COLUMN old TO new');
    await sql("INSERT INTO db.renamed VALUES (2, 'b')");
    expect(await bench().rows('db.renamed')).toEqual([
      { id: 1, new: 'a' },
      { id: 2, new: 'b' },
    ]);
    expect(await sql("SELECT id FROM db.renamed WHERE new = 'a'")).toEqual([{ id: 1 }]);
    const [first] = await bench().snapshots('db.renamed');
    expect(await sql(`SELECT * FROM db.renamed VERSION AS OF ${String(first?.id)}`)).toEqual([{ id: 1, old: 'a' }]);
    await bench().agree('renamed');
  });

  it('A08: members of structs, in lists and maps too, are renamed the same way', async () => {
    const { sql } = bench();
    await sql(
      `CREATE TABLE db.nested (id INT, s STRUCT<a: INT, b: STRUCT<c: INT>>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<y: INT>>) USING iceberg`,
    );
    await sql(`INSERT INTO db.nested VALUES (1, struct(1, struct(2)), array(struct(3)), map('k', struct(4)))`);
    await onlyDefinition(
      'nested',
      'ALTER TABLE db.nested RENAME COLUMN s.b.c TO cc',
      'ALTER TABLE db.nested RENAME COLUMN l.element.x TO xx',
      'ALTER TABLE db.nested RENAME COLUMN m.value.y TO yy',
      'ALTER TABLE db.nested RENAME COLUMN s TO ss',
    );
    expect(await sql('SELECT ss.b.cc, l[0].xx, m["k"].yy FROM db.nested')).toEqual([{ cc: 2, 'l[0].xx': 3, 'm[k].yy': 4 }]);
    await bench().agree('nested');
  });

  it('columns that a MERGE brings are in the name mapping, as those of ALTER TABLE are', async () => {
    const { sql } = bench();
    const mapping = '[{"field-id":1,"names":["id"]}]';
    await sql(`CREATE TABLE db.mapped (id INT) USING iceberg TBLPROPERTIES ('schema.name-mapping.default' = '${mapping}')`);
    await sql(
      "MERGE WITH SCHEMA EVOLUTION INTO db.mapped t USING (SELECT 1 AS id, 'a' AS v) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
    );
    const [property] = await sql("SHOW TBLPROPERTIES db.mapped ('schema.name-mapping.default')");
    expect(property?.['value']).toBe('[{"field-id":1,"names":["id"]},{"field-id":2,"names":["v"]}]');
    expect(await bench().rows('db.mapped')).toEqual([{ id: 1, v: 'a' }]);
    await bench().agree('mapped');
  });

  it('A08: a name that is not there, or there already, is refused', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.names (id INT, v STRING) USING iceberg');
    expect(await refusalOf(sql('ALTER TABLE db.names RENAME COLUMN nope TO x'))).toMatchObject({
      errorClass: expect.stringMatching(/UNRESOLVED_COLUMN|FIELD_NOT_FOUND/) as string,
    });
    expect(await refusalOf(sql('ALTER TABLE db.names RENAME COLUMN v TO id'))).toMatchObject({ errorClass: 'FIELD_ALREADY_EXISTS' });
    expect(await fieldsOf('names')).toEqual([
      ['id', 'int'],
      ['v', 'string'],
    ]);
  });

  it('A09: ALTER COLUMN TYPE widens int, float and decimal without rewriting anything', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.widened (id INT, f FLOAT, d DECIMAL(8,2)) USING iceberg');
    await sql('INSERT INTO db.widened VALUES (1, 1.5, 1.25)');
    await onlyDefinition(
      'widened',
      'ALTER TABLE db.widened ALTER COLUMN id TYPE BIGINT',
      'ALTER TABLE db.widened ALTER COLUMN f TYPE DOUBLE',
      'ALTER TABLE db.widened ALTER COLUMN d TYPE DECIMAL(20,2)',
    );
    await sql('INSERT INTO db.widened VALUES (5000000000, 1e300, 123456789012345678.99)');
    expect(await bench().rows('db.widened')).toEqual([
      { id: 1n, f: 1.5, d: '1.25' },
      { id: 5_000_000_000n, f: 1e300, d: '123456789012345678.99' },
    ]);
    expect(await sql('SELECT f FROM db.widened WHERE id = 1')).toEqual([{ f: 1.5 }]);
    await bench().agree('widened');
  });

  it.each([
    ['BIGINT to INT', 'b', 'INT', '"BIGINT"', '"INT"'],
    ['BIGINT to STRING', 'b', 'STRING', '"BIGINT"', '"STRING"'],
    ['INT to DOUBLE', 'i', 'DOUBLE', '"INT"', '"DOUBLE"'],
    ['DOUBLE to FLOAT', 'd', 'FLOAT', '"DOUBLE"', '"FLOAT"'],
    ['less precision', 'p', 'DECIMAL(5,2)', '"DECIMAL(8,2)"', '"DECIMAL(5,2)"'],
    ['another scale', 'p', 'DECIMAL(12,4)', '"DECIMAL(8,2)"', '"DECIMAL(12,4)"'],
  ])('A09: %s is refused', async (_what, column, type, from, to) => {
    await bench().sql('CREATE TABLE IF NOT EXISTS db.narrowed (b BIGINT, i INT, d DOUBLE, p DECIMAL(8,2)) USING iceberg');
    expect(await refusalOf(bench().sql(`ALTER TABLE db.narrowed ALTER COLUMN ${column} TYPE ${type}`))).toMatchObject({
      errorClass: 'NOT_SUPPORTED_CHANGE_COLUMN',
      sqlState: '0A000',
      message: `ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing \`ice\`.\`db\`.\`narrowed\`'s column \`${column}\` with type ${from} to \`${column}\` with type ${to}.`,
    });
  });

  it('A10: ADD COLUMN at the end, first, after another one, with a comment, and in structs; old rows have null', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.added (id INT, s STRUCT<a: INT>) USING iceberg');
    await sql('INSERT INTO db.added VALUES (1, struct(2))');
    await onlyDefinition(
      'added',
      "ALTER TABLE db.added ADD COLUMN last STRING COMMENT 'the last one'",
      'ALTER TABLE db.added ADD COLUMN zero DOUBLE FIRST',
      'ALTER TABLE db.added ADD COLUMN mid DATE AFTER id',
      'ALTER TABLE db.added ADD COLUMN s.b INT FIRST',
      'ALTER TABLE db.added ADD COLUMNS (x INT, y ARRAY<INT>)',
    );
    expect(await fieldsOf('added')).toEqual([
      ['zero', 'double'],
      ['id', 'int'],
      ['mid', 'date'],
      ['s', 'struct<b:int,a:int>'],
      ['last', 'string'],
      ['x', 'int'],
      ['y', 'array<int>'],
    ]);
    const { fields } = await session.table('db.added').schema;
    expect(fields.find(({ name }) => name === 'last')?.metadata?.['comment']).toBe('the last one');
    await sql("INSERT INTO db.added VALUES (0.5, 2, DATE '2024-01-01', struct(7, 8), 'l', 9, array(1))");
    expect(await bench().rows('db.added')).toEqual([
      { zero: null, id: 1, mid: null, s: { b: null, a: 2 }, last: null, x: null, y: null },
      { zero: 0.5, id: 2, mid: '2024-01-01', s: { b: 7, a: 8 }, last: 'l', x: 9, y: [1] },
    ]);
    await bench().agree('added');
  });

  it('A10: additions that cannot be are refused', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.unadded (id INT, s STRUCT<a: INT>) USING iceberg');
    expect(await refusalOf(sql('ALTER TABLE db.unadded ADD COLUMN id STRING'))).toMatchObject({ errorClass: 'FIELD_ALREADY_EXISTS' });
    await refusalOf(sql('ALTER TABLE db.unadded ADD COLUMN x INT AFTER nope'));
    await refusalOf(sql('ALTER TABLE db.unadded ADD COLUMN id.x INT'));
    await refusalOf(sql('ALTER TABLE db.unadded ADD COLUMN x INT NOT NULL'));
    expect(await fieldsOf('unadded')).toHaveLength(2);
  });

  it('A10: DROP COLUMN, also of members; a column of the same name is another one', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.dropped USING iceberg AS SELECT 1 AS id, 'a' AS v, struct(1 AS a, 2 AS b) AS s");
    await onlyDefinition(
      'dropped',
      'ALTER TABLE db.dropped DROP COLUMN v',
      'ALTER TABLE db.dropped DROP COLUMN s.a',
      'ALTER TABLE db.dropped ADD COLUMN v STRING',
    );
    expect(await bench().rows('db.dropped')).toEqual([{ id: 1, s: { b: 2 }, v: null }]);
    await sql('ALTER TABLE db.dropped DROP COLUMNS IF EXISTS (nope)');
    await refusalOf(sql('ALTER TABLE db.dropped DROP COLUMN nope'));
    await sql('CREATE TABLE db.source (id INT, v STRING) USING iceberg PARTITIONED BY (id)');
    expect((await refusalOf(sql('ALTER TABLE db.source DROP COLUMN id'))).message).toMatch(
      /^Cannot find source column for partition field: 1000: id: identity\(1\)/,
    );
    await bench().agree('dropped');
  });

  it('A10: ALTER COLUMN drops NOT NULL, sets comments and moves columns', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.altered (id INT NOT NULL, v STRING, s STRUCT<a: INT, b: INT>) USING iceberg');
    await refusalOf(sql('INSERT INTO db.altered VALUES (NULL, NULL, NULL)'));
    await onlyDefinition(
      'altered',
      'ALTER TABLE db.altered ALTER COLUMN id DROP NOT NULL',
      "ALTER TABLE db.altered ALTER COLUMN v COMMENT 'a value'",
      'ALTER TABLE db.altered ALTER COLUMN v FIRST',
      'ALTER TABLE db.altered ALTER COLUMN s.a AFTER b',
    );
    expect(await fieldsOf('altered')).toEqual([
      ['v', 'string'],
      ['id', 'int'],
      ['s', 'struct<b:int,a:int>'],
    ]);
    expect((await session.table('db.altered').schema).fields[0]?.metadata?.['comment']).toBe('a value');
    await sql('INSERT INTO db.altered VALUES (NULL, NULL, NULL)');
    expect(await session.table('db.altered').count()).toBe(1);
    expect((await refusalOf(sql('ALTER TABLE db.altered ALTER COLUMN id SET NOT NULL'))).message).toMatch(
      /^Cannot change nullable column to non-nullable: id/,
    );
    await bench().agree('altered');
  });

  it('A10: identifier fields are set and dropped, and keep their columns', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.keyed (id BIGINT NOT NULL COMMENT 'the key', v STRING) USING iceberg");
    await onlyDefinition('keyed', 'ALTER TABLE db.keyed SET IDENTIFIER FIELDS id');
    expect(bench().metadata('keyed')['schemas']).toEqual(
      expect.arrayContaining([expect.objectContaining({ 'identifier-field-ids': [1] })]),
    );
    expect((await refusalOf(sql('ALTER TABLE db.keyed DROP COLUMN id'))).message).toContain(
      'Cannot delete identifier field 1: id: required long (the key). To force deletion, also call setIdentifierFields to update identifier fields.',
    );
    await onlyDefinition('keyed', 'ALTER TABLE db.keyed DROP IDENTIFIER FIELDS id', 'ALTER TABLE db.keyed DROP COLUMN id');
  });

  it('A10: SET and UNSET TBLPROPERTIES', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.props (id INT) USING iceberg TBLPROPERTIES ('kept' = '1')");
    await onlyDefinition('props', "ALTER TABLE db.props SET TBLPROPERTIES ('a.b' = 'c', 'write.format.default' = 'avro')");
    expect(bench().metadata('props')['properties']).toMatchObject({ kept: '1', 'a.b': 'c', 'write.format.default': 'avro' });
    await onlyDefinition(
      'props',
      "ALTER TABLE db.props UNSET TBLPROPERTIES ('a.b')",
      "ALTER TABLE db.props UNSET TBLPROPERTIES IF EXISTS ('nope')",
    );
    expect(bench().metadata('props')['properties']).not.toHaveProperty('a.b');
    for (const [key, value] of [
      ['format-version', '9'],
      ['format-version', '1'],
      ['current-snapshot-id', '1'],
      ['write.format.default', 'csv'],
    ]) {
      await refusalOf(async () => {
        await sql(`ALTER TABLE db.props SET TBLPROPERTIES ('${key}' = '${value}')`);
        await sql('INSERT INTO db.props VALUES (1)');
      });
      if (key === 'write.format.default') await sql("ALTER TABLE db.props SET TBLPROPERTIES ('write.format.default' = 'parquet')");
    }
  });
});
