import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqlOf } from '../../../src/iceberg/view/view-metadata.ts';
import { error, ids, named, names, openViewSession, text, withText } from '../../support/view-session.ts';

// Restates TestViews (apache/iceberg, spark/v4.0/spark-extensions) over a SQL catalog, with cases beside it.

const { session, directory, sql, refusal, stored, made, close } = await openViewSession();

afterAll(close);

describe('views of a catalog are made', () => {
  it('once, unless IF NOT EXISTS or OR REPLACE is said', async () => {
    const view = named('again');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t`);
    expect(await refusal(`CREATE VIEW ${view} AS SELECT id FROM t`)).toEqual(
      error('VIEW_ALREADY_EXISTS', `\`default\`.\`${view}\` because it already exists`),
    );
    await sql(`CREATE VIEW IF NOT EXISTS ${view} AS SELECT 1 AS other`);
    expect((await sql(`SELECT * FROM ${view}`)).length).toBe(10);
    await sql(`CREATE OR REPLACE VIEW ${view} AS SELECT id FROM t WHERE id > 9`);
    expect(await sql(`SELECT id FROM ${view}`)).toEqual([[10]]);
    expect(await refusal(`CREATE OR REPLACE VIEW IF NOT EXISTS ${view} AS SELECT 1`)).toEqual(error('PARSE_SYNTAX_ERROR', 'either'));
  });

  it('with names and comments of columns, and the names the query had', async () => {
    const view = named('aliases');
    await sql(`CREATE VIEW ${view} (new_id COMMENT 'ID', new_data COMMENT 'DATA') AS SELECT id, data FROM t WHERE id <= 3`);
    const metadata = await stored(view);
    expect(metadata.properties['spark.query-column-names']).toBe('id,data');
    expect(metadata.schemas[0]?.struct.fields).toEqual([
      { id: 0, name: 'new_id', type: { kind: 'integer' }, nullable: true, metadata: { comment: 'ID' } },
      { id: 1, name: 'new_data', type: { kind: 'string' }, nullable: true, metadata: { comment: 'DATA' } },
    ]);
    expect(await sql(`SELECT new_id FROM ${view} ORDER BY new_id`)).toEqual(ids(1, 3));
    await sql(`CREATE OR REPLACE VIEW ${view} (data2 COMMENT 'new data', id2 COMMENT 'new ID') AS SELECT data, id FROM t WHERE id <= 2`);
    expect(await sql(`SELECT data2, id2 FROM ${view} ORDER BY id2`)).toEqual([
      ['2', 1],
      ['4', 2],
    ]);
    expect((await stored(view)).properties['spark.query-column-names']).toBe('data,id');
  });

  it('with as many names as the query has columns, each once', async () => {
    expect(await refusal('CREATE VIEW v (id, data) AS SELECT id FROM t')).toEqual(
      error(
        'CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS',
        'not enough data columns:\nView columns: id, data.\nData columns: id.',
      ),
    );
    expect(await refusal('CREATE VIEW v (id) AS SELECT id, data FROM t')).toEqual(
      error(
        'CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS',
        'too many data columns:\nView columns: id.\nData columns: id, data.',
      ),
    );
    expect(await refusal('CREATE VIEW v (new_id, NEW_ID) AS SELECT id, id FROM t')).toEqual(
      error('COLUMN_ALREADY_EXISTS', 'The column `new_id` already exists'),
    );
    const view = named('twice');
    expect(await refusal(`CREATE VIEW ${view} AS SELECT id, id FROM t`)).toEqual(
      error('COLUMN_ALREADY_EXISTS', 'The column `id` already exists'),
    );
    await sql(`CREATE VIEW ${view} (id_one, id_two) AS SELECT id, id FROM t WHERE id <= 2`);
    expect(await sql(`SELECT * FROM ${view} WHERE id_two > 1`)).toEqual([[2, 2]]);
  });

  it('of nothing temporary', async () => {
    await sql('CREATE TEMPORARY VIEW passing AS SELECT id FROM t WHERE id = 5');
    await sql('CREATE GLOBAL TEMPORARY VIEW passing_by AS SELECT id FROM t WHERE id = 5');
    for (const [query, name] of [
      ['SELECT id FROM passing', '`passing`'],
      ['SELECT id FROM global_temp.passing_by', '`global_temp`.`passing_by`'],
      ['WITH m AS (SELECT max(id) AS max FROM passing) SELECT max FROM m', '`passing`'],
      ['SELECT * FROM t WHERE id = (SELECT id FROM passing)', '`passing`'],
      ['SELECT * FROM t WHERE id IN (SELECT id FROM global_temp.passing_by)', '`global_temp`.`passing_by`'],
    ] as const) {
      expect(await refusal(`CREATE VIEW permanent AS ${query}`)).toEqual(
        error(
          'INVALID_TEMP_OBJ_REFERENCE',
          `\`lake\`.\`default\`.\`permanent\` of the type VIEW because it references to the temporary object ${name}`,
        ),
      );
    }
    const view = named('cte');
    await sql(
      `CREATE VIEW ${view} AS WITH passing AS (SELECT max(id) AS max FROM t) (SELECT max, count(1) AS count FROM passing GROUP BY max)`,
    );
    expect(await sql(`SELECT * FROM ${view}`)).toEqual([[10, 1n]]);
  });

  it('of nothing that is not there, in SQL, without parameters', async () => {
    expect(await refusal('CREATE VIEW v AS SELECT non_existing FROM t')).toEqual(
      error('UNRESOLVED_COLUMN.WITH_SUGGESTION', '`non_existing`'),
    );
    expect(await refusal('CREATE VIEW v AS SELECT id FROM nowhere')).toEqual(error('TABLE_OR_VIEW_NOT_FOUND', '`nowhere`'));
    expect(await refusal('CREATE VIEW v AS invalid SQL')).toEqual(error('PARSE_SYNTAX_ERROR', "'invalid'"));
    await expect(session.sql('CREATE VIEW v AS SELECT id FROM t WHERE id = ?', [1])).rejects.toMatchObject({
      errorClass: 'UNSUPPORTED_FEATURE',
    });
    await expect(session.sql('CREATE VIEW v AS SELECT id FROM t WHERE id = :id', { id: 1 })).rejects.toMatchObject({
      errorClass: 'UNBOUND_SQL_PARAMETER',
    });
    expect(await sql("SHOW VIEWS LIKE 'v'")).toEqual([]);
  });

  it('with a history when they are replaced', async () => {
    const view = named('history');
    const [first, second] = ['SELECT id, data FROM t WHERE id <= 3', 'SELECT id FROM t WHERE id > 3'];
    await sql(`CREATE VIEW ${view} (new_id COMMENT 'some ID', new_data COMMENT 'some data') AS ${first}`);
    const before = await stored(view);
    expect(before).toMatchObject({ currentVersionId: 1, versionLog: [{ versionId: 1 }], schemas: [{ schemaId: 0 }] });
    expect(sqlOf(before)?.sql).toBe(first);
    await sql(`CREATE OR REPLACE VIEW ${view} (updated_id COMMENT 'updated ID') AS ${second}`);
    const after = await stored(view);
    expect(sqlOf(after)?.sql).toBe(second);
    expect(after).toMatchObject({
      viewUuid: before.viewUuid,
      currentVersionId: 2,
      versionLog: [{ versionId: 1 }, { versionId: 2 }],
      versions: [
        { versionId: 1, schemaId: 0 },
        { versionId: 2, schemaId: 1, defaultCatalog: undefined, defaultNamespace: ['default'] },
      ],
      schemas: [{ schemaId: 0 }, { schemaId: 1 }],
    });
    await sql(`CREATE OR REPLACE VIEW ${view} (updated_id COMMENT 'updated ID') AS ${second}`);
    expect((await stored(view)).versions.length).toBe(2);
  });

  it('with no more versions than version.history.num-entries says', async () => {
    const view = named('bounded');
    await sql(`CREATE VIEW ${view} TBLPROPERTIES ('version.history.num-entries' = '2') AS SELECT 0 AS n`);
    for (let n = 1; n <= 4; n += 1) await sql(`CREATE OR REPLACE VIEW ${view} AS SELECT ${n} AS n`);
    const { versions, versionLog } = await stored(view);
    expect(versions.map(({ versionId }) => versionId)).toEqual([4, 5]);
    expect(versionLog.map(({ versionId }) => versionId)).toEqual([4, 5]);
  });

  it("and keep other engines' texts, unless told that these may go", async () => {
    const view = named('dialects');
    await made(view, withText(text('SELECT id FROM t', 'trino'), text('SELECT id FROM t')));
    expect(await refusal(`CREATE OR REPLACE VIEW ${view} AS SELECT id FROM t`)).toEqual(
      error(
        'ICEBERG_DEFINITION_REFUSED',
        'Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false):\nPrevious dialects: [trino, spark]\nNew dialects: [spark]',
      ),
    );
    await sql(`CREATE OR REPLACE VIEW ${view} TBLPROPERTIES ('replace.drop-dialect.allowed' = 'true') AS SELECT id FROM t`);
    const { versions } = await stored(view);
    expect(versions.map(({ representations }) => representations.length)).toEqual([2, 1]);
  });

  it('where TBLPROPERTIES say', async () => {
    const [path, place] = names('path', 'place');
    const custom = join(directory, 'custom-metadata-location');
    await sql(`CREATE VIEW ${path} TBLPROPERTIES ('write.metadata.path' = '${custom}') AS SELECT * FROM t`);
    const location = join(directory, 'lake', 'default', path);
    expect((await sql(`DESCRIBE EXTENDED ${path}`)).map(([key, value]) => [key, value])).toContainEqual([
      'View Properties',
      `['format-version' = '1', 'location' = '${location}', 'provider' = 'iceberg', 'write.metadata.path' = '${custom}']`,
    ]);
    expect(readdirSync(custom).length).toBe(1);
    await sql(`CREATE VIEW ${place} TBLPROPERTIES ('location' = '${custom}') AS SELECT * FROM t`);
    expect(await sql(`SHOW TBLPROPERTIES ${place} (location)`)).toEqual([['location', custom]]);
    expect((await sql(`SELECT * FROM ${place}`)).length).toBe(10);
  });

  it('in Iceberg catalogs of rows and servers alone', async () => {
    for (const name of ['spark_catalog.default.v', 'files.db.v']) {
      expect(await refusal(`CREATE VIEW ${name} AS SELECT 1 AS a`)).toEqual(
        error('UNSUPPORTED_FEATURE.CATALOG_OPERATION', 'does not support views'),
      );
    }
  });
});
