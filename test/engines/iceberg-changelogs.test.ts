import { describe, expect, it } from 'vitest';
import { enginesMissing } from './support/engine-bench.ts';
import { fullName, type IcebergBench, icebergBench, sqliteCatalog } from './support/iceberg-bench.ts';

/*
 * The view of a table's changes, ours and Spark's. Spark makes none of tables with delete files: ours of such a table must fold to the rows of
 * a copy-on-write table that went through the same.
 */

const history = [
  "INSERT INTO {t} SELECT id, concat('a', id) FROM range(10)",
  'DELETE FROM {t} WHERE id % 4 = 0',
  'UPDATE {t} SET v = upper(v) WHERE id < 6',
  "CALL {c}.system.rewrite_data_files(table => '{n}', options => map('rewrite-all', 'true'))",
  "MERGE INTO {t} t USING (SELECT id, 'm' AS v FROM range(5, 14)) s ON t.id = s.id WHEN MATCHED AND s.id = 6 THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
  "INSERT OVERWRITE {t} SELECT id, concat('o', id) FROM range(8, 12)",
  'INSERT INTO {t} SELECT * FROM {t} WHERE id = 9',
] as const;

/** Arguments behind the table and the view's name. */
const requests: readonly (readonly [string, string])[] = [
  ['as it is', ''],
  ['with updates', ", identifier_columns => array('id')"],
  ['of net changes', ', net_changes => true'],
  ['after a snapshot', ", options => map('start-snapshot-id', '{snapshot:1}')"],
  [
    'between snapshots',
    ", options => map('start-snapshot-id', '{snapshot:0}', 'end-snapshot-id', '{snapshot:4}'), identifier_columns => array('id'), compute_updates => true",
  ],
];

describe.skipIf(enginesMissing)('changelogs of ours and of Spark', () => {
  const bench = icebergBench((directory) => [sqliteCatalog(directory)]);

  it.each([2, 3])('are the same of a copy-on-write table that we wrote, format %s', async (version) => {
    const table = await written(bench(), { name: `changelog_${version}`, version, mode: 'copy-on-write' });
    for (const [title, more] of requests) {
      const call = await bench().filled(changelogOf(table.name, more), table);
      const query = 'SELECT * FROM seen_changes';
      await bench().session.sql(call);
      const ours = await bench().ours(query);
      expect(ours.length).toBeGreaterThan(0);
      await bench().oracle.sql(call);
      expect([title, ...ours]).toEqual([title, ...(await bench().spark(query))]);
    }
  });

  it.each([2, 3])('of ours over delete files are those of the copy-on-write table, format %s', async (version) => {
    const [copied, marked] = [
      await written(bench(), { name: `copied_${version}`, version, mode: 'copy-on-write' }),
      await written(bench(), { name: `marked_${version}`, version, mode: 'merge-on-read' }),
    ];
    const changes = async (table: { readonly name: string }): Promise<readonly string[]> => {
      await bench().session.sql(changelogOf(table.name, ", identifier_columns => array('id')"));
      return await bench().ours('SELECT id, v, _change_type, _change_ordinal FROM seen_changes');
    };
    expect(await changes(marked)).toEqual(await changes(copied));
  });
});

interface Wanted {
  readonly name: string;
  readonly version: number;
  readonly mode: 'copy-on-write' | 'merge-on-read';
}

async function written(bench: IcebergBench, { name, version, mode }: Wanted): Promise<ReturnType<IcebergBench['table']>> {
  const table = bench.table('ours', name);
  await bench.session.sql(
    `CREATE TABLE ${fullName(table)} (id BIGINT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '${version}',
      'write.delete.mode' = '${mode}', 'write.update.mode' = '${mode}', 'write.merge.mode' = '${mode}')`,
  );
  for (const statement of history) await bench.session.sql(await bench.filled(statement, table));
  return table;
}

function changelogOf(name: string, more: string): string {
  return `CALL lake.system.create_changelog_view(table => '${name}', changelog_view => 'seen_changes'${more})`;
}
