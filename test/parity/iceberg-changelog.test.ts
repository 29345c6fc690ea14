import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** create_changelog_view: what changed between snapshots. */
describe('changelogs of Iceberg tables', () => {
  const bench = icebergBench();

  /** Snapshots: 0 inserts 1..4, 1 updates 2, 2 deletes 3, 3 moves rows only, 4 inserts 5. */
  async function changed(name: string, options: { readonly mode: string; readonly version: number }): Promise<readonly bigint[]> {
    const { sql } = bench();
    const { mode, version } = options;
    await sql(`CREATE TABLE db.${name} (id INT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '${version}',
      'write.delete.mode' = '${mode}', 'write.update.mode' = '${mode}', 'write.merge.mode' = '${mode}')`);
    await sql(`INSERT INTO db.${name} VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')`);
    await sql(`UPDATE db.${name} SET v = 'B' WHERE id = 2`);
    await sql(`DELETE FROM db.${name} WHERE id = 3`);
    await sql(`CALL ice.system.rewrite_data_files(table => 'db.${name}', options => map('rewrite-all', 'true'))`);
    await sql(`INSERT INTO db.${name} VALUES (5, 'e')`);
    return (await bench().snapshots(`db.${name}`)).map(({ id }) => id);
  }

  const shown = async (view: string): Promise<readonly (readonly unknown[])[]> =>
    (await bench().sql(`SELECT * FROM ${view} ORDER BY _change_ordinal, id, _change_type`)).map((row) => [
      row['_change_ordinal'],
      row['_change_type'],
      row['id'],
      row['v'],
    ]);

  const cases = [
    { mode: 'copy-on-write', version: 2 },
    { mode: 'merge-on-read', version: 2 },
    { mode: 'copy-on-write', version: 3 },
    { mode: 'merge-on-read', version: 3 },
  ];

  it.each(cases)(
    'A26: inserts and deletes by snapshot, $mode in version $version, rows that only moved left out',
    async ({ mode, version }) => {
      const name = `log${mode === 'copy-on-write' ? 'c' : 'm'}${version}`;
      const ids = await changed(name, { mode, version });
      expect(await bench().sql(`CALL ice.system.create_changelog_view(table => 'db.${name}')`)).toEqual([
        { changelog_view: `\`${name}_changes\`` },
      ]);
      expect(await shown(`${name}_changes`)).toEqual([
        [0, 'INSERT', 1, 'a'],
        [0, 'INSERT', 2, 'b'],
        [0, 'INSERT', 3, 'c'],
        [0, 'INSERT', 4, 'd'],
        [1, 'DELETE', 2, 'b'],
        [1, 'INSERT', 2, 'B'],
        [2, 'DELETE', 3, 'c'],
        [3, 'INSERT', 5, 'e'],
      ]);
      const [update] = await bench().sql(`SELECT _commit_snapshot_id FROM ${name}_changes WHERE v = 'B'`);
      expect(update).toEqual({ _commit_snapshot_id: ids[1] });
    },
  );

  it.each(cases)('A26: update images by identifier columns, $mode in version $version', async ({ mode, version }) => {
    const name = `images${mode === 'copy-on-write' ? 'c' : 'm'}${version}`;
    const ids = await changed(name, { mode, version });
    await bench().sql(`CALL ice.system.create_changelog_view(table => 'db.${name}', changelog_view => 'images', identifier_columns => array('id'),
      options => map('start-snapshot-id', '${String(ids[0])}'))`);
    expect(await shown('images')).toEqual([
      [0, 'UPDATE_AFTER', 2, 'B'],
      [0, 'UPDATE_BEFORE', 2, 'b'],
      [1, 'DELETE', 3, 'c'],
      [2, 'INSERT', 5, 'e'],
    ]);
  });

  it('A26: net changes tell what is left of a range', async () => {
    const ids = await changed('net', { mode: 'merge-on-read', version: 2 });
    const { sql } = bench();
    await sql('DELETE FROM db.net WHERE id = 5');
    await sql("CALL ice.system.create_changelog_view(table => 'db.net', changelog_view => 'net_all', net_changes => true)");
    expect((await sql('SELECT _change_type, id, v FROM net_all ORDER BY id')).map((row) => Object.values(row))).toEqual([
      ['INSERT', 1, 'a'],
      ['INSERT', 2, 'B'],
      ['INSERT', 4, 'd'],
    ]);
    await sql(
      `CALL ice.system.create_changelog_view(table => 'db.net', changelog_view => 'net_later', net_changes => true, options => map('start-snapshot-id', '${String(ids[0])}', 'end-snapshot-id', '${String(ids[2])}'))`,
    );
    expect((await sql('SELECT _change_type, id, v FROM net_later ORDER BY id, v')).map((row) => Object.values(row))).toEqual([
      ['INSERT', 2, 'B'],
      ['DELETE', 2, 'b'],
      ['DELETE', 3, 'c'],
    ]);
  });

  it('A26: the view has the columns of the table and three of its own; a view is a table for queries', async () => {
    await changed('typed', { mode: 'copy-on-write', version: 2 });
    const { sql, session } = bench();
    await sql("CALL ice.system.create_changelog_view(table => 'db.typed', changelog_view => 'typed_view')");
    expect(await session.table('typed_view').dtypes).toEqual([
      ['id', 'int'],
      ['v', 'string'],
      ['_change_type', 'string'],
      ['_change_ordinal', 'int'],
      ['_commit_snapshot_id', 'bigint'],
    ]);
    expect(await sql('SELECT _change_type, count(*) AS n FROM typed_view GROUP BY _change_type ORDER BY 1')).toEqual([
      { _change_type: 'DELETE', n: 2n },
      { _change_type: 'INSERT', n: 6n },
    ]);
  });

  it('A26: ranges and identifiers that are none are refused', async () => {
    const ids = await changed('refused', { mode: 'copy-on-write', version: 2 });
    const call = (rest: string) => async (): Promise<void> => {
      await bench().sql(`CALL ice.system.create_changelog_view(table => 'db.refused', changelog_view => 'refused_view', ${rest})`);
      await bench().sql('SELECT * FROM refused_view');
    };
    await refusalOf(call("options => map('start-snapshot-id', '17')"));
    await refusalOf(call(`options => map('start-snapshot-id', '${String(ids[3])}', 'end-snapshot-id', '${String(ids[1])}')`));
    await refusalOf(call("identifier_columns => array('nope')"));
    await refusalOf(call("net_changes => true, identifier_columns => array('id'), compute_updates => true"));
    await refusalOf(call("options => map('start-snapshot', '17')"));
    await refusalOf(call('compute_updates => true'));
  });
});
