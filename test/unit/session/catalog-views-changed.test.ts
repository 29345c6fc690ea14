import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession } from '../../../src/app/session.ts';
import { connectTo, error, ids, jdbc, named, names, openViewSession } from '../../support/view-session.ts';

// Restates TestViews (apache/iceberg, spark/v4.0/spark-extensions) over a SQL catalog, with cases beside it.

const { session, directory, sql, refusal, stored, rowsOf, close } = await openViewSession();

afterAll(close);

describe('views of a catalog are shown', () => {
  it('by SHOW VIEWS', async () => {
    await sql('CREATE NAMESPACE lake.shown');
    await sql('USE lake.shown');
    try {
      for (const name of ['v1', 'prefix_v2', 'prefix_v3']) await sql(`CREATE VIEW ${name} AS SELECT * FROM lake.default.t`);
      await sql('CREATE GLOBAL TEMPORARY VIEW listed_globally AS SELECT 1');
      await sql('CREATE TEMPORARY VIEW listed AS SELECT 1');
      const kept = ['prefix_v2', 'prefix_v3', 'v1'].map((name) => ['shown', name, false]);
      const temporary = ['', 'listed', true];
      for (const statement of ['SHOW VIEWS', 'SHOW VIEWS IN lake.shown']) {
        const rows = await sql(statement);
        for (const row of [...kept, temporary]) expect(rows).toContainEqual(row);
      }
      expect(await sql("SHOW VIEWS LIKE 'pref*'")).toEqual(kept.slice(0, 2));
      expect(await sql("SHOW VIEWS LIKE 'non-existing'")).toEqual([]);
      const global = await sql('SHOW VIEWS IN global_temp');
      expect(global).toContainEqual(['global_temp', 'listed_globally', true]);
      expect(global).not.toContainEqual(kept[0]);
      expect(await sql('SHOW VIEWS IN spark_catalog.default')).not.toContainEqual(kept[0]);
      expect((await sql('SHOW VIEWS IN lake')).every(([, , isTemporary]) => isTemporary)).toBe(true);
      expect(await refusal('SHOW VIEWS IN lake.nowhere')).toEqual(error('SCHEMA_NOT_FOUND', '`nowhere`'));
      expect((await sql('SHOW TABLES')).some(([, , isTemporary]) => !isTemporary)).toBe(false);
    } finally {
      await sql('USE lake');
    }
  });

  it('by DESCRIBE and SHOW COLUMNS', async () => {
    const view = named('described');
    await sql(
      `CREATE VIEW ${view} (new_id COMMENT 'ID', new_data COMMENT 'DATA') COMMENT 'view comment' AS SELECT id, data FROM t WHERE id <= 3`,
    );
    expect(await sql(`DESCRIBE ${view}`)).toEqual([
      ['new_id', 'int', 'ID'],
      ['new_data', 'string', 'DATA'],
    ]);
    expect(await sql(`DESCRIBE EXTENDED ${view}`)).toEqual([
      ['new_id', 'int', 'ID'],
      ['new_data', 'string', 'DATA'],
      ['', '', ''],
      ['# Detailed View Information', '', ''],
      ['Comment', 'view comment', ''],
      ['View Catalog and Namespace', 'lake.default', ''],
      ['View Query Output Columns', '[id, data]', ''],
      [
        'View Properties',
        `['format-version' = '1', 'location' = '${join(directory, 'lake', 'default', view)}', 'provider' = 'iceberg']`,
        '',
      ],
      ['Created By', `tidewater ${session.version}`, ''],
    ]);
    expect(await sql(`SHOW COLUMNS IN ${view}`)).toEqual([['new_id'], ['new_data']]);
  });

  it('by SHOW TBLPROPERTIES and SHOW CREATE TABLE', async () => {
    const view = named('created');
    await sql(
      `CREATE VIEW ${view} (new_id COMMENT 'ID', new_data COMMENT 'DATA')COMMENT 'view comment' TBLPROPERTIES ('key1'='val1', 'key2'='val2') AS SELECT id, data FROM t WHERE id <= 3`,
    );
    const properties = await sql(`SHOW TBLPROPERTIES ${view}`);
    expect(properties).toContainEqual(['key1', 'val1']);
    expect(properties).toContainEqual(['provider', 'iceberg']);
    expect(await sql(`SHOW TBLPROPERTIES ${view} (provider)`)).toEqual([['provider', 'iceberg']]);
    expect(await sql(`SHOW TBLPROPERTIES ${view} (non.existing)`)).toEqual([
      ['non.existing', `View lake.default.${view} does not have property: non.existing`],
    ]);
    const [[created] = []] = await sql(`SHOW CREATE TABLE ${view}`);
    expect(created).toBe(
      `CREATE VIEW lake.default.${view} (\n  new_id COMMENT 'ID',\n  new_data COMMENT 'DATA')\nCOMMENT 'view comment'\nTBLPROPERTIES (\n` +
        `  'format-version' = '1',\n  'key1' = 'val1',\n  'key2' = 'val2',\n  'location' = '${join(directory, 'lake', 'default', view)}',\n` +
        `  'provider' = 'iceberg')\nAS\nSELECT id, data FROM t WHERE id <= 3\n`,
    );
    await sql(`DROP VIEW ${view}`);
    if (typeof created === 'string') await sql(created);
    expect((await sql(`SELECT new_id, new_data FROM ${view}`)).length).toBe(3);
  });
});

describe('views of a catalog are changed', () => {
  it('by SET and UNSET TBLPROPERTIES', async () => {
    const view = named('properties');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t WHERE id <= 3`);
    await sql(`ALTER VIEW ${view} SET TBLPROPERTIES ('key1' = 'val1', 'comment' = 'view comment')`);
    await sql(`ALTER VIEW ${view} SET TBLPROPERTIES ('key1' = 'new_val1')`);
    expect((await stored(view)).properties).toMatchObject({ key1: 'new_val1', comment: 'view comment' });
    await sql(`ALTER VIEW ${view} UNSET TBLPROPERTIES ('key1')`);
    const { properties, versions } = await stored(view);
    expect(properties).not.toHaveProperty('key1');
    expect(properties).toMatchObject({ comment: 'view comment' });
    expect(versions.length).toBe(1);
    expect(await refusal(`ALTER VIEW ${view} UNSET TBLPROPERTIES ('unknown-key')`)).toEqual(
      error('UNSET_NONEXISTENT_PROPERTIES', "Cannot remove property that is not set: 'unknown-key'"),
    );
    await sql(`ALTER VIEW ${view} UNSET TBLPROPERTIES IF EXISTS ('unknown-key')`);
  });

  it('but not in what is no property', async () => {
    const view = named('reserved');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t WHERE id <= 3`);
    const reserved = 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY';
    for (const key of ['provider', 'location']) {
      expect(await refusal(`ALTER VIEW ${view} SET TBLPROPERTIES ('${key}' = 'x')`)).toEqual(
        error(reserved, `${key} is a reserved table property`),
      );
      expect(await refusal(`ALTER VIEW ${view} UNSET TBLPROPERTIES ('${key}')`)).toEqual(
        error(reserved, `${key} is a reserved table property`),
      );
    }
    for (const key of ['format-version', 'spark.query-column-names']) {
      expect(await refusal(`ALTER VIEW ${view} SET TBLPROPERTIES ('${key}' = 'x')`)).toEqual(
        error(reserved, `Cannot set reserved property: '${key}'`),
      );
      expect(await refusal(`ALTER VIEW ${view} UNSET TBLPROPERTIES IF EXISTS ('${key}')`)).toEqual(
        error(reserved, `Cannot unset reserved property: '${key}'`),
      );
    }
    expect(await refusal(`ALTER VIEW ${view} UNSET TBLPROPERTIES ('spark.query-column-names')`)).toEqual(
      error('UNSET_NONEXISTENT_PROPERTIES', "'spark.query-column-names'"),
    );
  });

  it('by another query, which leaves the properties', async () => {
    const view = named('altered');
    await sql(`CREATE VIEW ${view} (a) COMMENT 'kept' AS SELECT id FROM t WHERE id <= 3`);
    await sql(`ALTER VIEW ${view} AS SELECT id, data FROM t WHERE id > 9`);
    expect(await sql(`SELECT id, data FROM ${view}`)).toEqual([[10, '20']]);
    expect((await stored(view)).properties).toMatchObject({ comment: 'kept', 'spark.query-column-names': 'id,data' });
    expect(await refusal('ALTER VIEW nowhere AS SELECT 1 AS a')).toEqual(error('VIEW_NOT_FOUND', '`default`.`nowhere`'));
  });

  it('by another name', async () => {
    const [view, renamed, other] = names('original', 'renamed', 'target');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t WHERE id > 5`);
    await sql(`CREATE VIEW ${other} AS SELECT id FROM t`);
    await sql(`CREATE TEMPORARY VIEW ${view} AS SELECT id FROM t WHERE id <= 5`);
    await sql(`ALTER VIEW ${view} RENAME TO ${renamed}`);
    expect(await sql(`SELECT * FROM ${renamed} ORDER BY id`)).toEqual(ids(1, 5));
    expect(await sql(`SELECT * FROM ${view} ORDER BY id`)).toEqual(ids(6, 10));
    await sql(`ALTER VIEW ${view} RENAME TO ${renamed}`);
    expect(await sql(`SELECT * FROM lake.default.${renamed} ORDER BY id`)).toEqual(ids(6, 10));
    expect(await refusal(`ALTER VIEW non_existing RENAME TO target`)).toEqual(error('VIEW_NOT_FOUND', '`non_existing` cannot be found'));
    const from = `lake.default.${renamed}`;
    for (const taken of [other, 't']) {
      expect(await refusal(`ALTER VIEW ${from} RENAME TO ${taken}`)).toEqual(
        error('VIEW_ALREADY_EXISTS', `\`${taken}\` because it already exists`),
      );
    }
    expect(await refusal(`ALTER VIEW ${from} RENAME TO other.ns.x`)).toEqual(
      error('UNSUPPORTED_FEATURE', 'moving a view between catalogs (from=lake and to=other)'),
    );
    expect(await refusal(`ALTER VIEW ${from} RENAME TO lake.nowhere.x`)).toEqual(error('SCHEMA_NOT_FOUND', '`nowhere`'));
  });

  it('and dropped, with their newest metadata file', async () => {
    const view = named('dropped');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t`);
    await sql(`DROP VIEW ${view}`);
    expect(await rowsOf(view)).toEqual([]);
    expect(readdirSync(join(directory, 'lake', 'default', view, 'metadata'))).toEqual([]);
    expect(await refusal(`DROP VIEW ${view}`)).toEqual(error('VIEW_NOT_FOUND', `\`default\`.\`${view}\` cannot be found`));
    await sql(`DROP VIEW IF EXISTS ${view}`);
  });

  it('and go with their namespace when it is dropped with all that is in it', async () => {
    await sql('CREATE NAMESPACE lake.going');
    await sql('CREATE VIEW lake.going.v AS SELECT id FROM t');
    expect(await refusal('DROP NAMESPACE lake.going')).toEqual(error('SCHEMA_NOT_EMPTY', '`going`'));
    await sql('DROP NAMESPACE lake.going CASCADE');
    expect(await refusal('SHOW VIEWS IN lake.going')).toEqual(error('SCHEMA_NOT_FOUND', '`going`'));
  });

  it('with temporary ones in front: their text is replaced, their properties are nobody s', async () => {
    const view = named('temp');
    await sql(`CREATE TEMPORARY VIEW ${view} AS SELECT 1 AS a`);
    await sql(`ALTER VIEW ${view} AS SELECT 2 AS b`);
    expect(await sql(`SELECT b FROM ${view}`)).toEqual([[2]]);
    expect(await refusal(`ALTER VIEW ${view} SET TBLPROPERTIES ('a' = 'b')`)).toEqual(
      error('EXPECT_PERMANENT_VIEW_NOT_TEMP', 'is a temp view'),
    );
  });
});

describe('a name is that of a table or of a view', () => {
  it('whichever was there first', async () => {
    const view = named('name');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t`);
    for (const statement of [
      `CREATE TABLE ${view} (a INT)`,
      `CREATE OR REPLACE TABLE ${view} (a INT)`,
      `CREATE TABLE ${view} AS SELECT 1 AS a`,
      'CREATE OR REPLACE VIEW t AS SELECT 1 AS a',
      'CREATE VIEW t AS SELECT 1 AS a',
    ]) {
      expect(await refusal(statement)).toEqual(error('TABLE_OR_VIEW_ALREADY_EXISTS', 'because it already exists'));
    }
    await sql('CREATE VIEW IF NOT EXISTS t AS SELECT 1 AS a');
    const plain = named('plain');
    await sql(`CREATE TABLE ${plain} (a INT)`);
    expect(await refusal(`ALTER TABLE ${plain} RENAME TO ${view}`)).toEqual(error('TABLE_OR_VIEW_ALREADY_EXISTS', view));
    await expect(session.table('t').write.saveAsTable(view)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
  });

  it('for statements too', async () => {
    const view = named('statement');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t`);
    for (const statement of [
      `INSERT INTO ${view} VALUES (1)`,
      `UPDATE ${view} SET id = 1`,
      `DELETE FROM ${view}`,
      `MERGE INTO ${view} USING t ON ${view}.id = t.id WHEN MATCHED THEN DELETE`,
      `TRUNCATE TABLE ${view}`,
      `ALTER TABLE ${view} ADD COLUMN a INT`,
      `ALTER TABLE ${view} RENAME TO elsewhere`,
    ]) {
      expect(await refusal(statement)).toEqual(error('EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE', 'expects a table but'));
    }
    await expect(session.table('t').write.insertInto(view)).rejects.toMatchObject({ errorClass: 'EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE' });
    await expect(session.table('t').writeTo(view).append()).rejects.toMatchObject({ errorClass: 'EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE' });
    expect(await refusal(`DROP TABLE ${view}`)).toEqual(error('WRONG_COMMAND_FOR_OBJECT_TYPE', 'Use DROP VIEW instead'));
    expect(await refusal('DROP VIEW t')).toEqual(error('WRONG_COMMAND_FOR_OBJECT_TYPE', 'Use DROP TABLE instead'));
    expect(await refusal("ALTER VIEW t SET TBLPROPERTIES ('a' = 'b')")).toEqual(
      error('EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE', 'Please use ALTER TABLE'),
    );
    expect((await sql(`SELECT * FROM ${view}`)).length).toBe(10);
  });

  it('and CACHE TABLE and REFRESH TABLE take both', async () => {
    const view = named('cached');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t`);
    for (const name of [view, 't']) {
      expect((await sql(`CACHE TABLE ${name}`)).length).toBe(1);
      await sql(`REFRESH TABLE ${name}`);
    }
    expect(await refusal('REFRESH TABLE nothing')).toEqual(error('TABLE_OR_VIEW_NOT_FOUND', '`nothing`'));
  });

  it('and a view may be what a MERGE reads', async () => {
    const view = named('source');
    await sql('CREATE TABLE merged (id INT)');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t WHERE id <= 2`);
    await sql(`MERGE INTO merged USING ${view} ON merged.id = ${view}.id WHEN NOT MATCHED THEN INSERT *`);
    expect(await sql('SELECT * FROM merged ORDER BY id')).toEqual(ids(1, 2));
  });
});

describe('rows of a SQL catalog', () => {
  it('say that they are of views, as those of Java s JdbcCatalog', async () => {
    const view = named('row');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t`);
    expect(await rowsOf(view)).toMatchObject([
      {
        catalog_name: 'lake',
        table_namespace: 'default',
        iceberg_type: 'VIEW',
        metadata_location: expect.stringMatching(/\/00000-[0-9a-f-]{36}\.gz\.metadata\.json$/) as unknown,
      },
    ]);
    await sql(`ALTER VIEW ${view} SET TBLPROPERTIES ('a' = 'b', 'write.metadata.compression-codec' = 'none')`);
    const [row] = await rowsOf(view);
    expect(row?.['metadata_location']).toMatch(/\/00001-[0-9a-f-]{36}\.metadata\.json$/);
    expect(row?.['previous_metadata_location']).toMatch(/\/00000-/);
  });

  it('of the older layout have no views, and tables are found in them', async () => {
    const connection = connectTo(directory, 'old');
    await connection.execute(
      'CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, table_name))',
      [],
    );
    await connection.execute(
      'CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key))',
      [],
    );
    await connection.close();
    await using old = createSession({ config: { ...jdbc(directory, 'old'), 'spark.sql.warehouse.dir': join(directory, 'w2') } });
    await old.sql('CREATE TABLE old.db.t (a INT)');
    expect(await (await old.sql('SHOW VIEWS IN old.db')).collect()).toEqual([]);
    await expect(old.sql('SELECT * FROM old.db.nowhere')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
    await expect(old.sql('CREATE VIEW old.db.v AS SELECT 1 AS a')).rejects.toMatchObject({
      errorClass: 'UNSUPPORTED_FEATURE',
      hint: expect.stringContaining('jdbc.schema-version = V1') as unknown,
    });
    await expect(old.sql('DROP VIEW old.db.v')).rejects.toMatchObject({ errorClass: 'VIEW_NOT_FOUND' });
  });
});
