import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession } from '../../../src/app/session.ts';
import type { Session } from '../../../src/session/session.ts';
import { temporarySession } from '../../support/temporary-session.ts';

const refused = {
  code: 'FILE_OUTSIDE_TABLE',
  hint: expect.stringContaining('tidewater.files.allowedLocations') as string,
};

describe('a session that is confined to a directory', () => {
  let directory: string;
  let session: Session;
  const victim = (): string => join(directory, 'victim');
  const allowed = (): string => join(directory, 'allowed');

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tidewater-confined-'));
    for (const folder of [victim(), allowed()]) {
      await mkdir(folder);
      await writeFile(join(folder, 'a.csv'), '1\n');
      await writeFile(join(folder, 'a.json'), '{"id":1}\n');
    }
    const free = createSession({ config: { 'spark.sql.warehouse.dir': join(directory, 'warehouse') } });
    await free.range(1).write.save(join(victim(), 'delta'));
    await free.range(1).write.parquet(join(victim(), 'parquet'));
    await free.stop();
    await symlink(victim(), join(allowed(), 'link'));
    session = createSession({
      config: { 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.files.allowedLocations': allowed() },
    });
  });

  afterAll(async () => {
    await session.stop();
    await rm(directory, { recursive: true });
  });

  it('reads below the directory', async () => {
    expect(await session.read.csv(join(allowed(), 'a.csv')).count()).toBe(1);
    expect(await (await session.sql(`SELECT * FROM json.\`${join(allowed(), 'a.json')}\``)).count()).toBe(1);
  });

  it.each([
    ['csv', 'a.csv'],
    ['json', 'a.json'],
    ['parquet', 'parquet'],
    ['delta', 'delta'],
    ['iceberg', 'delta'],
  ])('refuses %s files elsewhere, of statements and of readers', async (format, name) => {
    const places = [
      join(victim(), name),
      `file://${join(victim(), name)}`,
      join(allowed(), '..', 'victim', name),
      join(allowed(), 'link', name),
    ];
    for (const place of places) {
      await expect((async () => (await session.sql(`SELECT * FROM ${format}.\`${place}\``)).collect())()).rejects.toMatchObject(refused);
      await expect((async () => session.read.format(format).load(place).collect())()).rejects.toMatchObject(refused);
    }
  });

  it('refuses to write, create, clone and convert elsewhere', async () => {
    const before = await readdir(victim(), { recursive: true });
    const at = join(victim(), 'made');
    await session.sql('CREATE TABLE source (id INT) USING delta');
    for (const statement of [
      `CREATE TABLE made (id INT) USING delta LOCATION '${at}'`,
      `CREATE TABLE delta.\`${at}\` (id INT) USING delta`,
      `CREATE TABLE cloned SHALLOW CLONE source LOCATION '${at}'`,
      `INSERT INTO delta.\`${join(victim(), 'delta')}\` VALUES (5)`,
      `CONVERT TO DELTA parquet.\`${join(victim(), 'parquet')}\``,
      `VACUUM delta.\`${join(victim(), 'delta')}\``,
    ]) {
      await expect((async () => session.sql(statement))(), statement).rejects.toMatchObject(refused);
    }
    for (const format of ['parquet', 'delta']) {
      await expect(session.range(1).write.format(format).mode('overwrite').save(at)).rejects.toMatchObject(refused);
    }
    expect(await readdir(victim(), { recursive: true })).toEqual(before);
  });

  it('does not let the metadata of an Iceberg table lead elsewhere, not through a link either', async () => {
    await using free = await temporarySession();
    const secret = join(victim(), 'iceberg');
    await free.session.range(1).write.format('iceberg').save(secret);
    for (const location of [secret, join(allowed(), 'link', 'iceberg')]) {
      const copy = join(allowed(), `copy${location.length}`);
      await cp(join(secret, 'metadata'), join(copy, 'metadata'), { recursive: true });
      const file = join(
        copy,
        'metadata',
        (await readdir(join(copy, 'metadata'))).findLast((name) => /^v\d+[.]metadata[.]json$/.test(name)) ?? '',
      );
      await writeFile(file, (await readFile(file, 'utf8')).replaceAll(secret, location));
      await expect((async () => session.read.format('iceberg').load(copy).collect())()).rejects.toMatchObject({
        code: 'FILE_OUTSIDE_TABLE',
      });
    }
  });

  it('does not write the metadata of a table elsewhere', async () => {
    const catalog = 'spark.sql.catalog.lake';
    const lake = createSession({
      config: {
        'tidewater.files.allowedLocations': allowed(),
        [`${catalog}.type`]: 'jdbc',
        [`${catalog}.uri`]: `jdbc:sqlite:file:${join(directory, 'lake.db')}`,
        [`${catalog}.warehouse`]: join(directory, 'lake'),
      },
    });
    const before = await readdir(victim(), { recursive: true });
    try {
      await lake.sql('CREATE TABLE lake.db.t (id INT) USING iceberg');
      await lake.sql('CREATE VIEW lake.db.v AS SELECT id FROM lake.db.t');
      for (const place of [join(victim(), 'm'), join(allowed(), 'link', 'm')]) {
        const properties = `TBLPROPERTIES ('write.metadata.path' = '${place}')`;
        for (const statement of [
          `ALTER TABLE lake.db.t SET ${properties}`,
          `CREATE TABLE lake.db.u (id INT) USING iceberg ${properties}`,
          `ALTER VIEW lake.db.v SET ${properties}`,
          `CREATE VIEW lake.db.w ${properties} AS SELECT id FROM lake.db.t`,
          `CREATE VIEW lake.db.w TBLPROPERTIES ('location' = '${place}') AS SELECT id FROM lake.db.t`,
          `CREATE VIEW lake.db.w AS SELECT * FROM csv.\`${place}\``,
        ]) {
          await expect((async () => lake.sql(statement))(), statement).rejects.toMatchObject({ code: 'FILE_OUTSIDE_TABLE' });
        }
      }
      await lake.sql(`ALTER TABLE lake.db.t SET TBLPROPERTIES ('write.metadata.path' = '${join(allowed(), 'm')}')`);
      await lake.sql(`ALTER VIEW lake.db.v SET TBLPROPERTIES ('write.metadata.path' = '${join(allowed(), 'm')}')`);
      await lake.sql('INSERT INTO lake.db.t VALUES (1)');
      expect(await lake.table('lake.db.v').count()).toBe(1);
      expect(await lake.table('lake.db.t').count()).toBe(1);
    } finally {
      await lake.stop();
    }
    expect(await readdir(victim(), { recursive: true })).toEqual(before);
  });

  it('does not let a statement widen it', async () => {
    for (const key of ['tidewater.files.allowedLocations', 'tidewater.delta.allowedLocations', 'tidewater.iceberg.allowedLocations']) {
      const set = async (): Promise<unknown> => session.sql(`SET ${key} = /`);
      await expect(set()).rejects.toMatchObject({ errorClass: 'CANNOT_MODIFY_STATIC_CONFIG' });
    }
  });
});
