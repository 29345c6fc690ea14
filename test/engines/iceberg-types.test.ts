import { describe, expect, it } from 'vitest';
import { enginesMissing } from './support/engine-bench.ts';
import { directoryCatalog, fullName, icebergBench, linesOf, sqliteCatalog } from './support/iceberg-bench.ts';

/*
 * What statements of both sides cannot show: types that Spark does not write, tables that pyiceberg makes, and the catalog of directories.
 */

describe.skipIf(enginesMissing)('Iceberg tables between engines', () => {
  const bench = icebergBench((directory) => [sqliteCatalog(directory), directoryCatalog(directory)]);

  it('hold uuid, time and fixed values that pyiceberg and we write', async () => {
    const table = bench().table('ours', 'exotic');
    const types = ['long', 'uuid', 'time', 'fixed[3]'];
    const fields = types.map((type, index) => ({ id: index + 1, name: `c${index + 1}`, type, required: false }));
    await bench().pyiceberg(table, { op: 'create', schema: { type: 'struct', fields, 'schema-id': 0, 'identifier-field-ids': [] } });
    const name = fullName(table);
    await bench().session.sql(
      `INSERT INTO ${name} VALUES (1, '12345678-1234-1234-1234-123456789abc', '12:34:56.000001', X'010203'), (2, NULL, NULL, NULL)`,
    );
    await bench().pyiceberg(table, { op: 'append_copy' });
    await bench().session.sql(`UPDATE ${name} SET c3 = '23:59:59.999999' WHERE c1 = 2`);
    const full = { c1: 1, c2: '12345678-1234-1234-1234-123456789abc', c3: '12:34:56.000001', c4: '010203' };
    const ours = await bench().collect(`SELECT * FROM ${name} ORDER BY c1`);
    expect(ours).toEqual([full, full, ...[1, 2].map(() => ({ c1: 2, c2: null, c3: '23:59:59.999999', c4: null }))]);
    const [reading] = await bench().read('pyiceberg', [{ what: 'rows', path: table.path }]);
    expect(linesOf(reading)).toEqual(await bench().ours(`SELECT * FROM ${name}`));
    await bench().expectSound(table.path);
  });

  it('that pyiceberg makes and changes are read by us, at every snapshot', async () => {
    const table = bench().table('ours', 'of_pyiceberg');
    const fields = [
      { id: 1, name: 'id', type: 'long', required: true },
      { id: 2, name: 'p', type: 'string', required: false },
      { id: 3, name: 'tags', type: { type: 'list', 'element-id': 4, element: 'string', 'element-required': false }, required: false },
    ];
    await bench().pyiceberg(table, {
      op: 'create',
      schema: { type: 'struct', fields, 'schema-id': 0, 'identifier-field-ids': [] },
      spec: { 'spec-id': 0, fields: [{ 'source-id': 2, 'field-id': 1000, transform: 'identity', name: 'p' }] },
    });
    const rows = [1, 2, 3, 4].map((id) => ({ id, p: `p${id % 2}`, tags: id === 2 ? null : [`t${id}`, null] }));
    await bench().pyiceberg(table, { op: 'append', rows });
    await bench().pyiceberg(table, { op: 'tag', name: 'first' });
    await bench().pyiceberg(table, { op: 'delete', filter: 'id = 3' });
    await bench().pyiceberg(table, { op: 'add_column', name: 'more', type: 'double' });
    await bench().pyiceberg(table, { op: 'rename_column', name: 'tags', to: 'labels' });
    await bench().pyiceberg(table, { op: 'add_partition', name: 'id' });
    await bench().pyiceberg(table, { op: 'append', rows: [{ id: 9, p: 'p9', labels: [], more: 0.5 }] });
    await bench().pyiceberg(table, { op: 'overwrite', filter: "p = 'p0'", rows: [{ id: 10, p: 'p0', labels: ['x'], more: null }] });
    await bench().session.sql(`INSERT INTO ${fullName(table)} VALUES (11, 'p1', array('ours'), 1.5D)`);
    const name = fullName(table);
    const snapshots = (await bench().collect(`SELECT snapshot_id FROM ${name}.snapshots`)).map((row) => String(row['snapshot_id']));
    expect(snapshots.length).toBeGreaterThan(4);
    const read = await bench().read('pyiceberg', [
      ...snapshots.map((snapshot_id) => ({ what: 'rows' as const, path: table.path, snapshot_id })),
      { what: 'rows', path: table.path },
    ]);
    for (const [index, id] of snapshots.entries()) {
      expect([id, ...(await bench().ours(`SELECT * FROM ${name} VERSION AS OF ${id}`))]).toEqual([id, ...linesOf(read[index])]);
    }
    expect(await bench().ours(`SELECT * FROM ${name}`)).toEqual(linesOf(read.at(-1)));
    expect(await bench().ours(`SELECT * FROM ${name}`)).toEqual(await bench().spark(`SELECT * FROM ${name}`));
  });

  it('in a directory are found by Spark where we put them, and by us where Spark did', async () => {
    const catalog = bench().catalogs.find(({ name }) => name === 'dirs');
    const [ours, theirs] = [bench().table('ours', 'turns', catalog), bench().table('theirs', 'turns', catalog)];
    await bench().session.sql(`CREATE TABLE ${fullName(ours)} (id BIGINT, p STRING) USING iceberg PARTITIONED BY (truncate(1, p))`);
    await bench().session.sql(`INSERT INTO ${fullName(ours)} VALUES (1, 'ab'), (2, NULL)`);
    await bench().oracle.sql(
      `INSERT INTO ${fullName(ours)} VALUES (3, 'cd')`,
      `CREATE TABLE ${fullName(theirs)} AS SELECT * FROM ${fullName(ours)}`,
    );
    await bench().session.sql(`DELETE FROM ${fullName(ours)} WHERE id = 3`);
    await bench().session.sql(
      `MERGE INTO ${fullName(theirs)} t USING (SELECT 4L AS id, 'x' AS p) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *`,
    );
    await bench().oracle.sql(`ALTER TABLE ${fullName(theirs)} RENAME COLUMN p TO q`, `DELETE FROM ${fullName(theirs)} WHERE id = 1`);
    for (const table of [ours, theirs]) {
      const query = `SELECT * FROM ${fullName(table)}`;
      const lines = await bench().ours(query);
      expect(lines).toHaveLength(table === ours ? 2 : 3);
      expect(await bench().spark(query)).toEqual(lines);
      for (const engine of ['pyiceberg', 'duckdb'] as const) {
        const [reading] = await bench().read(engine, [{ what: 'rows', path: table.path }]);
        expect([engine, ...linesOf(reading)]).toEqual([engine, ...lines]);
      }
    }
  });
});
