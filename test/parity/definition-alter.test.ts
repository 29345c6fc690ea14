import { describe, expect, it } from 'vitest';
import type { Row } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** ALTER TABLE: every kind is one version that leaves the files alone. */
describe('changing definitions', () => {
  const bench = deltaBench();

  async function made(name: string, columns: string = 'id INT, v STRING', clauses: string = ''): Promise<(what: string) => Promise<Row>> {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at(name)} (${columns}) USING delta ${clauses}`);
    return async (what) => {
      await sql(`ALTER TABLE ${at(name)} ${what}`);
      return bench().lastEntry(name);
    };
  }

  const mapped = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')";

  function parametersOf(entry: Row): Readonly<Record<string, unknown>> {
    return Object.fromEntries(entry['operationParameters'] as ReadonlyMap<string, string>);
  }

  const namesOf = (name: string): Promise<readonly string[]> => bench().session.read.load(bench().path(name)).columns;

  it('B15: ADD COLUMNS adds at the end, first, after another, and in structs', async () => {
    const { sql, at } = bench();
    const alter = await made('added', 'id INT, st STRUCT<a: INT>');
    await sql(`INSERT INTO ${at('added')} VALUES (1, named_struct('a', 7))`);
    const entry = await alter("ADD COLUMNS (z DOUBLE COMMENT 'the last', f STRING FIRST, m INT AFTER id, st.b INT)");
    expect(entry).toMatchObject({ operation: 'ADD COLUMNS', version: 2n, operationMetrics: new Map() });
    expect(JSON.parse(String(parametersOf(entry)['columns']))).toMatchObject([
      { column: { name: 'z', type: 'double', nullable: true } },
      { column: { name: 'f', type: 'string' }, position: 'FIRST' },
      { column: { name: 'm', type: 'integer' }, position: 'AFTER id' },
      { column: { name: 'st.b', type: 'integer' } },
    ]);
    expect(await namesOf('added')).toEqual(['f', 'id', 'm', 'st', 'z']);
    expect(await bench().rows('added')).toEqual([{ f: null, id: 1, m: null, st: { a: 7, b: null }, z: null }]);
    await bench().agree('added');
    expect((await refusalOf(alter('ADD COLUMN z INT'))).errorClass).toBe('FIELD_ALREADY_EXISTS');
  });

  it('B15: RENAME COLUMN and DROP COLUMN need column mapping, and then rewrite nothing', async () => {
    const { sql, at } = bench();
    const plain = await made('plain');
    const rename = await refusalOf(plain('RENAME COLUMN v TO w'));
    expect(rename).toMatchObject({ errorClass: 'DELTA_UNSUPPORTED_RENAME_COLUMN', sqlState: '0AKDC' });
    expect(rename.message).toContain('Column rename is not supported for your Delta table.');
    expect(await refusalOf(plain('DROP COLUMN v'))).toMatchObject({ errorClass: 'DELTA_UNSUPPORTED_DROP_COLUMN', sqlState: '0AKDC' });
    const alter = await made('mapped', 'id INT, v STRING, x INT, st STRUCT<a: INT, b: INT>', mapped);
    await sql(`INSERT INTO ${at('mapped')} VALUES (1, 'a', 2, named_struct('a', 3, 'b', 4))`);
    expect(parametersOf(await alter('RENAME COLUMN v TO w'))).toEqual({ oldColumnPath: 'v', newColumnPath: 'w' });
    await alter('RENAME COLUMN st.a TO c');
    expect(await alter('DROP COLUMN x')).toMatchObject({ operation: 'DROP COLUMNS' });
    await alter('DROP COLUMNS IF EXISTS (nothing, st.b)');
    expect(await bench().rows('mapped')).toEqual([{ id: 1, w: 'a', st: { c: 3 } }]);
    expect((await sql(`DESCRIBE DETAIL ${at('mapped')}`))[0]).toMatchObject({ numFiles: 1n });
    await bench().agree('mapped');
  });

  it('B15: ALTER COLUMN changes type, comment, place, nullability and default', async () => {
    const { sql, at, session, path } = bench();
    const features = "'delta.enableTypeWidening' = 'true', 'delta.feature.allowColumnDefaults' = 'supported'";
    const alter = await made('columns', 'id INT NOT NULL, v STRING, n SMALLINT', `TBLPROPERTIES (${features})`);
    await sql(`INSERT INTO ${at('columns')} VALUES (1, 'a', 5)`);
    expect(await alter('ALTER COLUMN id TYPE BIGINT')).toMatchObject({ operation: 'CHANGE COLUMN' });
    await alter("ALTER COLUMN v COMMENT 'the value'");
    expect(JSON.parse(String(parametersOf(await alter('ALTER COLUMN n FIRST'))['column']))).toMatchObject({ name: 'n', type: 'short' });
    await alter('ALTER COLUMN id DROP NOT NULL');
    await alter("ALTER COLUMN v SET DEFAULT 'none'");
    await sql(`INSERT INTO ${at('columns')} (n) VALUES (6)`);
    expect(await bench().rows('columns', 'n')).toEqual([
      { n: 5, id: 1n, v: 'a' },
      { n: 6, id: null, v: 'none' },
    ]);
    await alter('ALTER COLUMN v DROP DEFAULT');
    await alter('CHANGE COLUMN n n INT AFTER v');
    expect(await session.read.load(path('columns')).columns).toEqual(['id', 'v', 'n']);
    expect((await sql(`DESCRIBE TABLE ${at('columns')}`)).map((row) => [row['data_type'], row['comment']])).toEqual([
      ['bigint', null],
      ['string', 'the value'],
      ['int', null],
    ]);
    // delta-rs does not read tables with type widening.
    await bench().agree('columns', { engines: ['duckdb'] });
  });

  it('B15: changes of columns that cannot be are refused', async () => {
    const { sql, at } = bench();
    const alter = await made('fixed', 'id INT, v STRING');
    await sql(`INSERT INTO ${at('fixed')} VALUES (NULL, 'a')`);
    expect(await refusalOf(alter('ALTER COLUMN id TYPE BIGINT'))).toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP',
      sqlState: '0AKDC',
      message: expect.stringContaining('ALTER TABLE CHANGE COLUMN is not supported for changing column id from INT to BIGINT') as string,
    });
    const wide = await made('wide', 'a BIGINT', 'TBLPROPERTIES (delta.enableTypeWidening = true)');
    expect(await refusalOf(wide('ALTER COLUMN a TYPE INT'))).toMatchObject({
      errorClass: 'NOT_SUPPORTED_CHANGE_COLUMN',
      sqlState: '0A000',
    });
    expect((await refusalOf(alter('ALTER COLUMN id SET NOT NULL'))).errorClass).toBe('_LEGACY_ERROR_TEMP_2330');
    expect((await refusalOf(alter("ALTER COLUMN nope COMMENT 'x'"))).errorClass).toMatch(/FIELD_NOT_FOUND|UNRESOLVED_COLUMN/);
    expect(await bench().version('fixed')).toBe(1);
  });

  it('B15: SET and UNSET TBLPROPERTIES', async () => {
    const { sql, at } = bench();
    const alter = await made('properties');
    const set = await alter("SET TBLPROPERTIES (team = 'me', 'delta.logRetentionDuration' = 'interval 10 days')");
    expect(set).toMatchObject({ operation: 'SET TBLPROPERTIES', version: 1n });
    expect(JSON.parse(String(parametersOf(set)['properties']))).toEqual({ team: 'me', 'delta.logRetentionDuration': 'interval 10 days' });
    expect(await sql(`SHOW TBLPROPERTIES ${at('properties')} ('team')`)).toEqual([{ key: 'team', value: 'me' }]);
    const unset = await alter('UNSET TBLPROPERTIES (team)');
    expect(parametersOf(unset)).toEqual({ properties: '["team"]', ifExists: 'true' });
    await alter('UNSET TBLPROPERTIES (team)');
    await alter('UNSET TBLPROPERTIES IF EXISTS (team)');
    expect(await refusalOf(alter('SET TBLPROPERTIES (delta.unknownThing = 1)'))).toMatchObject({
      errorClass: 'DELTA_UNKNOWN_CONFIGURATION',
      sqlState: 'F0000',
      message: expect.stringContaining('Unknown configuration was specified: delta.unknownThing') as string,
    });
    await sql(`COMMENT ON TABLE ${at('properties')} IS 'what it is'`);
    expect((await sql(`DESCRIBE DETAIL ${at('properties')}`))[0]).toMatchObject({ description: 'what it is' });
    await bench().agree('properties');
  });

  it('B15: ADD and DROP CONSTRAINT', async () => {
    const alter = await made('constrained', 'id INT, amount DOUBLE');
    const added = await alter('ADD CONSTRAINT positive CHECK (amount > 0)');
    expect(added).toMatchObject({ operation: 'ADD CONSTRAINT' });
    expect(parametersOf(added)).toEqual({ name: 'positive', expr: 'amount > 0' });
    const dropped = await alter('DROP CONSTRAINT positive');
    expect(dropped).toMatchObject({ operation: 'DROP CONSTRAINT' });
    expect(parametersOf(dropped)).toMatchObject({ name: 'positive', existed: 'true' });
    await bench().agree('constrained');
  });

  it('B15: CLUSTER BY sets, changes and takes away the clustering', async () => {
    const { sql, at } = bench();
    const alter = await made('clustered', 'id INT, a INT, b INT', 'CLUSTER BY (a)');
    const clustering = async (): Promise<unknown> => (await sql(`DESCRIBE DETAIL ${at('clustered')}`))[0]?.['clusteringColumns'];
    expect(await clustering()).toEqual(['a']);
    const entry = await alter('CLUSTER BY (b, id)');
    expect(entry).toMatchObject({ operation: 'CLUSTER BY' });
    expect(parametersOf(entry)).toEqual({ oldClusteringColumns: 'a', newClusteringColumns: 'b,id' });
    expect(await clustering()).toEqual(['b', 'id']);
    await sql(`INSERT INTO ${at('clustered')} VALUES (1, 2, 3)`);
    await alter('CLUSTER BY NONE');
    expect(await clustering()).toEqual([]);
    await bench().agree('clustered');
    const partitioned = await made('parted', 'id INT, p INT', 'PARTITIONED BY (p)');
    expect((await refusalOf(partitioned('CLUSTER BY (id)'))).errorClass).toBe(
      'DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED',
    );
  });

  it('B15: what is left to other statements is refused with the way to do it', async () => {
    const alter = await made('others');
    for (const [what, cure] of [
      // A table of a path has no name to change.
      ['RENAME TO other', /path/],
      ['REPLACE COLUMNS (x INT)', /add, drop and rename/],
      ['ADD PARTITION (id = 1)', /rows written/],
      ["SET LOCATION '/elsewhere'", /SET LOCATION/],
    ] as const) {
      const refused = await refusalOf(alter(what));
      expect(`${refused.message} ${refused.hint ?? ''}`).toMatch(cure);
    }
    expect(await bench().version('others')).toBe(0);
  });
});
