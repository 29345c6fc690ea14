import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { textIn } from '../support/parity/delta-bench.ts';
import { enginesMissing } from './support/engine-bench.ts';
import { fullName, icebergBench, sqliteCatalog } from './support/iceberg-bench.ts';

/*
 * Copies of tables by the lists of `rewrite_table_path`, ours and Spark's: both name the same files, and each program reads the copy that the
 * other has prepared when the original is gone.
 */

type Pair = readonly [from: string, to: string];

const pathOf = (location: string): string => location.replace(/^file:(?:\/\/)?/, '');
const listed = (list: string): readonly Pair[] =>
  readFileSync(pathOf(list), 'utf8')
    .split('\n')
    .flatMap((line): Pair[] => (line === '' ? [] : [[line.split(',')[0] ?? '', line.split(',')[1] ?? '']]));

function copy(pairs: readonly Pair[]): void {
  for (const [from, to] of pairs) {
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(pathOf(from), to);
  }
}

interface Shape {
  readonly title: string;
  readonly properties: string;
  /**
   * What Spark with Iceberg 1.11 makes of it: position deletes of one data file still name the file where it was, so that their rows are back; of
   * two vectors in one Puffin file it writes the file twice, and fails.
   */
  readonly theirs: 'a copy' | 'a list' | 'a failure';
  readonly deleted: readonly string[];
}

const deleted = ['id IN (1, 4, 9, 25, 36)', 'id = 16'];
const shapes: readonly Shape[] = [
  { title: 'rows alone', properties: '', theirs: 'a copy', deleted: [] },
  { title: 'position deletes', properties: ", 'write.delete.granularity' = 'partition'", theirs: 'a list', deleted },
  { title: 'position deletes in Avro', properties: ", 'write.delete.format.default' = 'avro'", theirs: 'a list', deleted },
  { title: 'position deletes in ORC', properties: ", 'write.delete.format.default' = 'orc'", theirs: 'a list', deleted },
  { title: 'deletion vectors', properties: ", 'format-version' = '3'", theirs: 'a failure', deleted },
];

describe.skipIf(enginesMissing)('copies of Iceberg tables', () => {
  const bench = icebergBench((directory) => [sqliteCatalog(directory)]);

  it.each(shapes.map((shape) => [shape.title, shape] as const))('with %s are read by Spark and by us', async (title, shape) => {
    const { session, oracle } = bench();
    const name = title.replaceAll(' ', '_').toLowerCase();
    const here = bench().table('ours', name);
    await session.sql(`CREATE TABLE ${fullName(here)} (id INT, v STRING) USING iceberg PARTITIONED BY (bucket(2, id))
      TBLPROPERTIES ('write.delete.mode' = 'merge-on-read'${shape.properties})`);
    for (const base of [0, 20])
      await session.sql(`INSERT INTO ${fullName(here)} SELECT CAST(id + ${base} AS INT), concat('ü', id) FROM range(20)`);
    for (const condition of shape.deleted) await session.sql(`DELETE FROM ${fullName(here)} WHERE ${condition}`);
    const rows = await bench().ours(`SELECT * FROM ${fullName(here)}`);
    const target = (whose: string): string => join(bench().directory, `${whose}-copy-of-a-table`, name);
    const call = (whose: string): string =>
      `CALL lake.system.rewrite_table_path(table => '${here.name}', source_prefix => '${here.path}', target_prefix => '${target(whose)}')`;
    const [own] = await (await session.sql(call('own'))).collect();
    const ours = listed(textIn(own, 'file_list_location'));
    if (shape.theirs !== 'a failure') {
      const [other] = await oracle.sql(call('other'));
      expect({ ...own, file_list_location: '' }).toEqual({ ...other, file_list_location: '' });
      const theirs = listed(String(other?.['file_list_location']));
      const targets = (pairs: readonly Pair[], whose: string): readonly string[] =>
        pairs.map(([, to]) => to.slice(target(whose).length)).sort();
      expect(targets(ours, 'own')).toEqual(targets(theirs, 'other'));
      copy(theirs);
    }
    copy(ours);
    rmSync(here.path, { recursive: true });
    const metadata = (whose: string): string => join(target(whose), 'metadata', textIn(own, 'latest_version'));
    await oracle.sql(`CALL lake.system.register_table('theirs.${name}', '${metadata('own')}')`);
    expect(await bench().spark(`SELECT * FROM lake.theirs.${name}`)).toEqual(rows);
    await bench().expectSound(target('own'));
    if (shape.theirs !== 'a copy') return;
    await session.sql(`CALL lake.system.register_table('ours.${name}_other', '${metadata('other')}')`);
    expect(await bench().ours(`SELECT * FROM lake.ours.${name}_other`)).toEqual(rows);
  });
});
