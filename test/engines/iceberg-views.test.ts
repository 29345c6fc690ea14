import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { privateRestCatalog, type TestRestCatalog } from '../support/rest-catalog.ts';
import type { PrivateServer } from '../support/servers.ts';
import { enginesMissing } from './support/engine-bench.ts';
import { icebergBench, restCatalog, type SharedCatalog, sqliteCatalog } from './support/iceberg-bench.ts';

/* Views that we made are read, shown and changed by Spark and pyiceberg, and theirs by us, in catalogs that all of them share. */

const timeoutMs = 600_000;

describe.skipIf(enginesMissing)('views that several engines share', () => {
  let rest: PrivateServer<TestRestCatalog> | undefined;
  beforeAll(async () => {
    rest = await privateRestCatalog();
  }, timeoutMs);
  afterAll(async () => {
    await rest?.[Symbol.asyncDispose]();
  });
  const bench = icebergBench((directory): readonly SharedCatalog[] => [
    sqliteCatalog(directory),
    ...(rest === undefined ? [] : [restCatalog(rest.server)]),
  ]);

  it.each(['lake', 'rest'])(
    'are the same for all of them in %s',
    async (name) => {
      const catalog = bench().catalogs.find((candidate) => candidate.name === name);
      if (catalog?.pyiceberg === undefined) return;
      const { session, oracle } = bench();
      const [ours, theirs] = [`${name}.ours.mine`, `${name}.theirs.yours`];
      await session.sql(`CREATE TABLE ${name}.ours.base (id BIGINT, v STRING) USING iceberg`);
      await session.sql(`INSERT INTO ${name}.ours.base VALUES (1, 'a'), (2, 'b'), (3, 'c')`);

      await session.sql(`USE ${name}.ours`);
      await session.sql(`CREATE VIEW ${ours} (n COMMENT 'number', w) COMMENT 'of ours' AS SELECT id, upper(v) FROM base WHERE id > 1`);
      await session.sql('USE spark_catalog');
      const rows = await bench().ours(`SELECT * FROM ${ours}`);
      expect(rows.length).toBe(2);
      expect(await bench().spark(`SELECT * FROM ${ours}`)).toEqual(rows);
      expect(await bench().spark(`DESCRIBE ${ours}`)).toEqual(await bench().ours(`DESCRIBE ${ours}`));
      expect(await bench().spark(`SHOW VIEWS IN ${name}.ours`)).toEqual(await bench().ours(`SHOW VIEWS IN ${name}.ours`));
      expect(await bench().spark(`SHOW CREATE TABLE ${ours}`)).toEqual(await bench().ours(`SHOW CREATE TABLE ${ours}`));

      await oracle.sql(`CREATE VIEW ${theirs} (a, b COMMENT 'text') TBLPROPERTIES ('k' = 'v') AS SELECT id + 1, v FROM ${name}.ours.base`);
      expect(await bench().ours(`SELECT * FROM ${theirs}`)).toEqual(await bench().spark(`SELECT * FROM ${theirs}`));
      expect(await bench().ours(`SHOW CREATE TABLE ${theirs}`)).toEqual(await bench().spark(`SHOW CREATE TABLE ${theirs}`));

      await session.sql(`ALTER VIEW ${theirs} SET TBLPROPERTIES ('k' = 'w')`);
      await session.sql(`CREATE OR REPLACE VIEW ${theirs} AS SELECT id FROM ${name}.ours.base WHERE id = 3`);
      await oracle.sql(`CREATE OR REPLACE VIEW ${ours} AS SELECT id FROM ${name}.ours.base WHERE id = 2`);
      for (const view of [ours, theirs]) {
        expect(await bench().ours(`SELECT * FROM ${view}`)).toEqual(await bench().spark(`SELECT * FROM ${view}`));
        expect(await bench().ours(`SHOW CREATE TABLE ${view}`)).toEqual(await bench().spark(`SHOW CREATE TABLE ${view}`));
      }

      if (name === 'rest') {
        const [shown] = await oracle.pyiceberg({ op: 'view', catalog: catalog.pyiceberg, table: 'theirs.yours' });
        expect(shown).toEqual({
          names: ['yours'],
          sql: [`SELECT id FROM ${name}.ours.base WHERE id = 3`],
          columns: ['id'],
          versions: 2,
          properties: expect.objectContaining({ k: 'w' }) as unknown,
        });
      }
      await oracle.sql(`DROP VIEW ${ours}`);
      await session.sql(`DROP VIEW ${theirs}`);
      for (const namespace of ['ours', 'theirs']) {
        expect(await bench().ours(`SHOW VIEWS IN ${name}.${namespace}`)).toEqual([]);
        expect(await bench().spark(`SHOW VIEWS IN ${name}.${namespace}`)).toEqual([]);
      }
    },
    timeoutMs,
  );
});
