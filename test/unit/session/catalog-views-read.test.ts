import { afterAll, describe, expect, it } from 'vitest';
import { error, ids, named, names, openViewSession, text, withText } from '../../support/view-session.ts';

// Restates TestViews (apache/iceberg, spark/v4.0/spark-extensions) over a SQL catalog, with cases beside it.

const { session, sql, refusal, made, close } = await openViewSession();

afterAll(close);

describe('views of a catalog are read', () => {
  it('by SQL, by tables and readers, under an alias', async () => {
    const view = named('simple');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t WHERE id <= 3`);
    expect(await sql(`SELECT * FROM ${view} ORDER BY id`)).toEqual(ids(1, 3));
    expect(await sql(`SELECT v.id FROM lake.default.${view} v JOIN ${view} w ON v.id = w.id WHERE v.id = 2`)).toEqual([[2]]);
    expect((await session.table(view).collect()).length).toBe(3);
    expect((await session.read.table(`lake.default.${view}`).filter('id > 1').collect()).length).toBe(2);
  });

  it('with a query of WITH, ordinals in GROUP BY, and queries in expressions', async () => {
    const [cte, ordinal, filter, scalar] = names('cte', 'ordinal', 'filter', 'scalar');
    await sql(`CREATE VIEW ${cte} AS WITH m AS (SELECT max(id) AS max FROM t) SELECT max, count(1) AS count FROM m GROUP BY max`);
    await sql(`CREATE VIEW ${ordinal} AS SELECT id % 2 AS odd, count(1) FROM t GROUP BY 1`);
    await sql(`CREATE VIEW ${filter} AS SELECT id FROM t WHERE id = (SELECT max(id) FROM t)`);
    await sql(`CREATE VIEW ${scalar} AS SELECT (SELECT max(id) FROM t) max_id FROM t WHERE id < 3`);
    await sql('USE spark_catalog');
    try {
      expect(await refusal('SELECT * FROM t')).toEqual(error('TABLE_OR_VIEW_NOT_FOUND', '`t` cannot be found'));
      expect(await sql(`SELECT * FROM lake.default.${cte}`)).toEqual([[10, 1n]]);
      expect(await sql(`SELECT * FROM lake.default.${ordinal} ORDER BY 1`)).toEqual([
        [0, 5n],
        [1, 5n],
      ]);
      expect(await sql(`SELECT * FROM lake.default.${filter}`)).toEqual([[10]]);
      expect(await sql(`SELECT * FROM lake.default.${scalar}`)).toEqual([[10], [10]]);
    } finally {
      await sql('USE lake');
    }
  });

  it('through other views, and with the temporary view of a name before them', async () => {
    const [inner, outer] = names('inner', 'outer');
    await sql(`CREATE VIEW ${inner} AS SELECT * FROM t WHERE id > 5`);
    await sql(`CREATE VIEW ${outer} AS SELECT id FROM ${inner}`);
    await sql(`CREATE TEMPORARY VIEW ${inner} AS SELECT id FROM t WHERE id <= 5`);
    expect(await sql(`SELECT * FROM ${inner} ORDER BY id`)).toEqual(ids(1, 5));
    expect(await sql(`SELECT * FROM ${outer} ORDER BY id`)).toEqual(ids(6, 10));
    await sql(`CREATE GLOBAL TEMPORARY VIEW ${outer} AS SELECT id FROM t WHERE id <= 2`);
    expect(await sql(`SELECT * FROM global_temp.${outer} ORDER BY id`)).toEqual(ids(1, 2));
    expect(await sql(`SELECT * FROM ${outer} ORDER BY id`)).toEqual(ids(6, 10));
  });

  it('in the catalog and namespace that were current when they were made', async () => {
    const view = named('elsewhere');
    await sql('CREATE NAMESPACE IF NOT EXISTS other.ns');
    await sql(`CREATE VIEW other.ns.${view} AS SELECT id FROM t WHERE id = 4`);
    await sql('USE spark_catalog');
    try {
      expect(await sql(`SELECT * FROM other.ns.${view}`)).toEqual([[4]]);
      expect((await sql(`DESCRIBE EXTENDED other.ns.${view}`)).map(([key, value]) => [key, value])).toContainEqual([
        'View Catalog and Namespace',
        'other.ns',
      ]);
    } finally {
      await sql('USE lake');
    }
  });

  it('in the text for Spark, or else in the first there is', async () => {
    const [both, trino] = names('both', 'trino');
    await made(both, withText(text('SELECT non_existing FROM t', 'trino'), text('SELECT id FROM t')));
    expect((await sql(`SELECT * FROM ${both}`)).length).toBe(10);
    await made(trino, withText(text('SELECT id FROM t WHERE id = 7', 'trino')));
    expect(await sql(`SELECT * FROM ${trino}`)).toEqual([[7]]);
  });

  it('not without any text', async () => {
    const view = named('wordless');
    await made(view, withText({ kind: 'other', json: { type: 'substrait', plan: 'AA==' } }));
    expect(await refusal(`SELECT * FROM ${view}`)).toEqual(
      error('ICEBERG_VIEW_WITHOUT_SQL', `Cannot load SQL for view lake.default.${view}`),
    );
  });

  it('not when their text names what is not there, or is none', async () => {
    const [table, column, invalid, temporary] = names('table', 'column', 'invalid', 'temporary');
    await made(table, withText(text('SELECT id FROM non_existing')));
    expect(await refusal(`SELECT * FROM ${table}`)).toEqual(
      error('TABLE_OR_VIEW_NOT_FOUND', '`lake`.`default`.`non_existing` cannot be found'),
    );
    await made(column, withText(text('SELECT non_existing FROM t')));
    expect(await refusal(`SELECT * FROM ${column}`)).toEqual(
      error('UNRESOLVED_COLUMN.WITH_SUGGESTION', '`non_existing` cannot be resolved'),
    );
    await made(invalid, withText(text('invalid SQL')));
    expect(await refusal(`SELECT * FROM ${invalid}`)).toEqual(error('INVALID_VIEW_TEXT', `\`lake\`.\`default\`.\`${invalid}\``));
    await sql(`CREATE TEMPORARY VIEW temp_of_view AS SELECT id FROM t`);
    await made(temporary, withText(text('SELECT id FROM temp_of_view')));
    expect(await refusal(`SELECT * FROM ${temporary}`)).toEqual(error('TABLE_OR_VIEW_NOT_FOUND', 'temp_of_view'));
  });

  it('not when what they read has lost a column, or has another type', async () => {
    const [stale, all, narrow] = names('stale', 'all', 'narrow');
    await sql('CREATE TABLE s (id INT, n INT, data STRING)');
    await sql("INSERT INTO s VALUES (1, 2, 'a')");
    await sql(`CREATE VIEW ${stale} AS SELECT id, data FROM s`);
    await sql(`CREATE VIEW ${all} AS SELECT * FROM s`);
    await sql(`CREATE VIEW ${narrow} AS SELECT n FROM s`);
    await sql('ALTER TABLE s ADD COLUMN added INT');
    expect(await sql(`SELECT * FROM ${all}`)).toEqual([[1, 2, 'a']]);
    await sql('ALTER TABLE s ALTER COLUMN n TYPE BIGINT');
    expect(await refusal(`SELECT * FROM ${narrow}`)).toEqual(error('CANNOT_UP_CAST_DATATYPE', 'from "BIGINT" to "INT"'));
    await sql('ALTER TABLE s DROP COLUMNS (data, added)');
    expect(await refusal(`SELECT * FROM ${stale}`)).toEqual(error('UNRESOLVED_COLUMN.WITH_SUGGESTION', '`data` cannot be resolved'));
    expect(await refusal(`SELECT * FROM ${all}`)).toEqual(error('CANNOT_UP_CAST_DATATYPE', '`n`'));
    await sql(`CREATE OR REPLACE VIEW ${all} AS SELECT * FROM s`);
    await sql('ALTER TABLE s DROP COLUMN n');
    expect(await refusal(`SELECT * FROM ${all}`)).toEqual(error('INCOMPATIBLE_VIEW_SCHEMA_CHANGE', 'column `n` cannot be resolved'));
  });

  it('only at the present', async () => {
    const view = named('travelled');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t`);
    const refused = error('UNSUPPORTED_FEATURE.TIME_TRAVEL', `Time travel on the relation: \`lake\`.\`default\`.\`${view}\``);
    expect(await refusal(`SELECT * FROM ${view} VERSION AS OF 1`)).toEqual(refused);
    expect(await refusal(`SELECT * FROM ${view} TIMESTAMP AS OF '2030-01-01'`)).toEqual(refused);
  });

  it('not through themselves, and not endlessly', async () => {
    const [one, two] = names('one', 'two');
    await sql(`CREATE VIEW ${one} AS SELECT * FROM t`);
    await sql(`CREATE VIEW ${two} AS SELECT * FROM ${one}`);
    const cycle = [one, two, one].map((name) => `\`lake\`.\`default\`.\`${name}\``).join(' -> ');
    for (const query of [
      `SELECT * FROM lake.default.${two}`,
      `WITH m AS (SELECT max(id) AS max FROM ${two}) SELECT max, count(1) AS count FROM m GROUP BY max`,
      `SELECT * FROM t WHERE id = (SELECT max(id) FROM ${two})`,
    ]) {
      expect(await refusal(`CREATE OR REPLACE VIEW ${one} AS ${query}`)).toEqual(error('RECURSIVE_VIEW', `(cycle: ${cycle})`));
    }
    expect(await refusal(`CREATE OR REPLACE VIEW ${one} AS SELECT * FROM ${one}`)).toEqual(error('RECURSIVE_VIEW', one));
    const last = Array.from({ length: 101 }, (_, index) => `deep_${index}`);
    await sql(`CREATE VIEW deep_0 AS SELECT id FROM t WHERE id = 1`);
    for (const [index, name] of last.slice(1, -1).entries()) await sql(`CREATE VIEW ${name} AS SELECT id FROM deep_${index}`);
    expect(await sql('SELECT * FROM deep_99')).toEqual([[1]]);
    expect(await refusal('CREATE VIEW deep_100 AS SELECT id FROM deep_99')).toEqual(error('VIEW_EXCEED_MAX_NESTED_DEPTH', 'deep_0'));
  }, 120_000);
});
