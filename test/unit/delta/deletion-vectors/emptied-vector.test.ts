import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporarySession } from '../../../support/temporary-session.ts';

it('a vector whose entry says that it deletes nothing does not bring rows back', async () => {
  await using made = await temporarySession();
  const path = join(made.directory, 't');
  const table = `delta.\`${path}\``;
  await made.session.sql(`CREATE TABLE ${table} (id BIGINT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')`);
  await made.session.sql(`INSERT INTO ${table} VALUES (1), (2), (3)`);
  await made.session.sql(`DELETE FROM ${table} WHERE id = 2`);
  const log = join(path, '_delta_log');
  const newest = join(log, readdirSync(log).findLast((name) => name.endsWith('.json')) ?? '');
  const commit = readFileSync(newest, 'utf8');
  writeFileSync(newest, commit.replace('"cardinality":1', '"cardinality":0'));
  const rows = async (): Promise<unknown> => (await made.session.sql(`SELECT id FROM ${table}`)).collect();
  await expect(rows()).rejects.toMatchObject({ code: 'DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH' });
});
