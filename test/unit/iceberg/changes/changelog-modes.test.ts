import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../../../src/app/session.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { Row } from '../../../../src/session/rows/row.ts';
import { seedOr, triesOf } from '../../../support/property/property-runs.ts';

const limitMs = 120_000;
const seeds = Array.from({ length: triesOf(3) }, (_, index) => seedOr(1) + index);
const modes = ['write.delete.mode', 'write.update.mode', 'write.merge.mode'];
const inMode = (mode: string, formatVersion: number): string =>
  `TBLPROPERTIES (${[...modes.map((key) => `'${key}'='${mode}'`), `'format-version'='${formatVersion}'`].join(', ')})`;
const tables = {
  rewritten: inMode('copy-on-write', 2),
  positions: inMode('merge-on-read', 2),
  vectors: inMode('merge-on-read', 3),
} as const;

type TableName = keyof typeof tables;
const names: readonly TableName[] = ['rewritten', 'positions', 'vectors'];

describe('changelogs of tables that change their rows in other ways', { timeout: limitMs }, () => {
  let directory: string;
  let session: Session;
  const sql = (text: string): Promise<readonly Row[]> => session.sql(text).then((frame) => frame.collect());

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'changelog-'));
    session = createSession({
      config: {
        'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.ice.type': 'hadoop',
        'spark.sql.catalog.ice.warehouse': directory,
        'spark.sql.defaultCatalog': 'ice',
        'tidewater.engine.threads': '2',
      },
      print: () => undefined,
    });
    await sql('CREATE DATABASE db');
    for (const name of names) {
      await sql(`CREATE TABLE db.${name} (id BIGINT, v STRING, x DOUBLE) USING iceberg PARTITIONED BY (truncate(10, id)) ${tables[name]}`);
    }
  });

  afterEach(async () => {
    await session.stop();
    rmSync(directory, { recursive: true });
  });

  async function newest(name: TableName): Promise<bigint | undefined> {
    const [row] = await sql(`SELECT snapshot_id FROM db.${name}.refs WHERE name = 'main'`);
    const id = row?.['snapshot_id'];
    return typeof id === 'bigint' ? id : undefined;
  }

  /** Sorted, without the ids of snapshots. */
  async function changes(name: TableName, options: Readonly<Record<string, bigint | undefined>>, rest = ''): Promise<readonly string[]> {
    const given = Object.entries(options).flatMap(([key, value]) => (value === undefined ? [] : [`'${key}'`, `'${String(value)}'`]));
    await sql(`CALL ice.system.create_changelog_view(table => 'db.${name}', options => map(${given.join(', ')})${rest})`);
    return (await sql(`SELECT id, v, x, _change_type, _change_ordinal FROM ${name}_changes`)).map(printed).sort();
  }

  async function rows(name: TableName): Promise<readonly string[]> {
    return (await sql(`SELECT id, v, x FROM db.${name}`)).map(printed).sort();
  }

  it.each(seeds)('tell the same changes, which lead from the rows before to the rows after SEED=%i', async (seed) => {
    const random = new SeededRandom(seed);
    const states: Record<TableName, readonly string[]> = { rewritten: [], positions: [], vectors: [] };
    for (let step = 0; step < 10; step++) {
      const statement = step === 0 ? insert(random, 12) : anyStatement(random);
      const told: Record<string, readonly string[]> = {};
      for (const name of names) {
        const before = await newest(name);
        await sql(statement.replaceAll('$t', `db.${name}`));
        const after = await newest(name);
        told[name] = before === after ? [] : await changes(name, { 'start-snapshot-id': before, 'end-snapshot-id': after });
        states[name] = applied(states[name], told[name]);
        expect(states[name], `${name} after: ${statement}`).toEqual(await rows(name));
      }
      expect(told['positions'], statement).toEqual(told['rewritten']);
      expect(told['vectors'], statement).toEqual(told['rewritten']);
    }
    for (const name of names) expect(applied([], await changes(name, {}, ', net_changes => true'))).toEqual(states[name]);
  });

  it('tell the signs of zeros inside of lists, maps and structs, of rows before and after', async () => {
    await sql(
      `CREATE TABLE db.zeros (id BIGINT, l ARRAY<DOUBLE>, m MAP<INT, FLOAT>, s STRUCT<z: DOUBLE>) USING iceberg ${tables.rewritten}`,
    );
    await sql("INSERT INTO db.zeros VALUES (1, array(-0D), map(1, CAST('-0.0' AS FLOAT)), named_struct('z', -0D))");
    await sql('UPDATE db.zeros SET id = 2');
    const inside = 'l[0] AS l, m[1] AS m, s.z AS s';
    const told = await sql(`SELECT _change_type, id, ${inside} FROM db.zeros.changes WHERE _change_ordinal = 1 ORDER BY id`);
    expect(told.map(printed)).toEqual(['DELETE|1|-0|-0|-0', 'INSERT|2|-0|-0|-0']);
  });
});

function insert(random: SeededRandom, count: number): string {
  const values = Array.from({ length: count }, () => {
    const text = random.next() < 0.2 ? 'NULL' : `'${'abc'.charAt(Math.floor(random.next() * 3))}'`;
    const number = ['NULL', "double('NaN')", '0D', '-0D', '1.5D'][Math.floor(random.next() * 5)] ?? 'NULL';
    return `(${Math.floor(random.next() * 25)}, ${text}, ${number})`;
  });
  return `INSERT INTO $t VALUES ${values.join(', ')}`;
}

/** Rows are not unique, some changes change nothing. */
function anyStatement(random: SeededRandom): string {
  const id = Math.floor(random.next() * 25);
  const upper = id + Math.floor(random.next() * 8);
  const statements = [
    () => insert(random, 1 + Math.floor(random.next() * 6)),
    () => `UPDATE $t SET v = 'u' WHERE id BETWEEN ${id} AND ${upper}`,
    () => `UPDATE $t SET x = x WHERE id > ${id}`,
    () => `DELETE FROM $t WHERE id BETWEEN ${id} AND ${upper} AND (v IS NULL OR v <> 'a')`,
    () => `DELETE FROM $t WHERE id < ${Math.floor(id / 10) * 10}`,
    () =>
      `MERGE INTO $t t USING (SELECT ${id} AS id, 'm' AS v, 2D AS x UNION ALL SELECT ${id + 1}, 'n', 3D) s ON t.id = s.id ` +
      `WHEN MATCHED AND t.v = 'b' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *`,
    () => `INSERT OVERWRITE $t SELECT id, v, x FROM $t WHERE id <> ${id}`,
    () => `CALL ice.system.rewrite_data_files(table => '$t', options => map('rewrite-all', 'true'))`,
  ];
  return (statements[Math.floor(random.next() * statements.length)] ?? (() => insert(random, 1)))();
}

function printed(row: Row): string {
  return Object.values(row)
    .map((value) => (Object.is(value, -0) ? '-0' : typeof value === 'object' ? 'null' : String(value)))
    .join('|');
}

/** Rows after some changes, as a multiset, sorted. @throws when a change takes away a row that is not there. */
function applied(rows: readonly string[], changed: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  for (const change of changed) {
    const [, row = '', kind] = /^(.*)\|(INSERT|DELETE)\|\d+$/.exec(change) ?? [];
    counts.set(row, (counts.get(row) ?? 0) + (kind === 'INSERT' ? 1 : -1));
  }
  return [...counts].flatMap(([row, count]) => new Array<string>(count).fill(row)).sort();
}
