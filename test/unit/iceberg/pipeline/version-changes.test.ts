import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { rollbackToSnapshot } from '../../../../src/iceberg/operations/refs/move-main.ts';
import { commitUpdates } from '../../../../src/iceberg/transaction/commit-updates.ts';
import type { TableDefinition } from '../../../../src/table/table.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { PipelineTable } from '../../../support/iceberg/pipeline-table.ts';
import { temporarySession } from '../../../support/temporary-session.ts';

const schema = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'city', type: { kind: 'string' }, nullable: true },
  ],
} as const;

describe('changes of versions of an Iceberg table', () => {
  const open: PipelineTable[] = [];
  const create = async (definition: Partial<TableDefinition> = {}): Promise<PipelineTable> => {
    const made = await PipelineTable.create({ schema, properties: {}, ...definition });
    open.push(made);
    return made;
  };
  afterEach(async () => {
    for (const table of open.splice(0)) await table.close();
  });

  /** Statements against the table, which they call `t`. */
  async function sql(made: PipelineTable, ...statements: readonly string[]): Promise<void> {
    await using made2 = await temporarySession();
    for (const statement of statements)
      await made2.session.sql(statement.replaceAll(/\bt\b/g, `iceberg.\`${made.location}\``)).then((frame) => frame.collect());
  }

  it('reads what the pipeline appended from its own files', async () => {
    const made = await create();
    await made.append([
      { id: 1n, city: 'Kiel' },
      { id: 2n, city: null },
    ]);
    const changes = await made.table.changesOf(toVersion(1));
    expect(changes.files.map(({ kind, location }) => [kind, location])).toEqual([['insert', join(made.location, 'data')]]);
    expect(changes.release).toBeUndefined();
    expect(changes.link).toEqual({ id: String((await made.table.refresh()).snapshotId), previous: undefined });
    expect(await made.lines(1)).toEqual([
      '{"id":1,"city":"Kiel","_change_type":"insert","_commit_version":1}',
      '{"id":2,"city":null,"_change_type":"insert","_commit_version":1}',
    ]);
  });

  it('computes what others changed, pairs updates, and leaves no file behind', async () => {
    const made = await create({ identifierColumns: ['id'] });
    await made.append([
      { id: 1n, city: 'Kiel' },
      { id: 2n, city: 'Bonn' },
      { id: 3n, city: 'Jena' },
    ]);
    await sql(made, "UPDATE t SET city = 'Köln' WHERE id = 2", 'DELETE FROM t WHERE id = 3');
    expect(await made.lines(2)).toEqual([
      '{"id":2,"city":"Bonn","_change_type":"update_preimage","_commit_version":2}',
      '{"id":2,"city":"Köln","_change_type":"update_postimage","_commit_version":2}',
    ]);
    expect(await made.lines(3)).toEqual(['{"id":3,"city":"Jena","_change_type":"delete","_commit_version":3}']);
    expect(await readdir(join(made.made.directory, 'scratch'))).toEqual([]);
  });

  it('has the same changes for deletes beside the files as for rewritten files', async () => {
    const made = await create({ properties: { 'write.delete.mode': 'merge-on-read', 'write.update.mode': 'merge-on-read' } });
    await made.append([
      { id: 1n, city: 'Kiel' },
      { id: 2n, city: 'Bonn' },
    ]);
    await sql(made, 'DELETE FROM t WHERE id = 2');
    expect(await made.lines(2)).toEqual(['{"id":2,"city":"Bonn","_change_type":"delete","_commit_version":2}']);
    const rows = await made.table.rowsAt(toVersion(2));
    expect(rows.files.map(({ rowCount, deletedRows }) => [rowCount, deletedRows])).toEqual([[1, BigInt64Array.of(1n)]]);
  });

  it('has none for rewrites, and none for numbers that are nobody’s', async () => {
    const made = await create();
    await made.append([{ id: 1n, city: 'Kiel' }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n, city: 'Bonn' }]);
    await made.table.compact(await made.table.planCompaction({ targetFileBytes: 1 << 20, minInputFiles: 2, maxGroups: 1 }));
    expect(await made.lines(3)).toEqual([]);
    expect(await made.lines(0)).toEqual([]);
    await rollbackToSnapshot(made.table.context, kept);
    await made.append([{ id: 3n, city: 'Jena' }]);
    expect(await made.lines(2)).toEqual([]);
    const [taken, fourth] = [await made.table.changesOf(toVersion(3)), await made.table.changesOf(toVersion(4))];
    expect(taken.link).toBeUndefined();
    expect(fourth.link?.previous).toBe(String(kept));
    await expect(made.table.changesOf(toVersion(5))).rejects.toMatchObject({ code: 'TABLE_VERSION_NOT_FOUND' });
  });

  it('says that a version is gone when its snapshot was expired', async () => {
    const made = await create();
    await made.append([{ id: 1n, city: 'Kiel' }]);
    const first = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n, city: 'Bonn' }]);
    await commitUpdates(made.table.context, () => ({ requirements: [], updates: [{ action: 'remove-snapshots', snapshotIds: [first] }] }));
    await expect(made.table.changesOf(toVersion(1))).rejects.toMatchObject({ code: 'CDF_GAP', kind: 'not-found' });
    expect(await made.lines(2)).toHaveLength(1);
  });

  it('reads what lies in files of another shape from these files', async () => {
    const made = await create();
    await made.append([{ id: 1n, city: 'Kiel' }]);
    await sql(made, 'ALTER TABLE t RENAME COLUMN city TO town', "INSERT INTO t VALUES (2, 'Bonn')");
    expect(await made.lines(2)).toEqual(['{"id":2,"town":"Bonn","_change_type":"insert","_commit_version":2}']);
    const rows = await made.table.rowsAt(toVersion(2));
    expect(rows.files.map(({ layout }) => layout !== undefined).toSorted()).toEqual([false, true]);
    expect(rows.release).toBeUndefined();
  });

  it('reads a version that only takes rows away from the table’s own files', async () => {
    const made = await create({ properties: { 'write.delete.mode': 'merge-on-read' } });
    await made.append([1n, 2n, 3n, 4n].map((id) => ({ id, city: 'Kiel' })));
    await sql(made, 'DELETE FROM t WHERE id = 1', 'DELETE FROM t WHERE id IN (2, 4)', 'DELETE FROM t');
    const kinds = async (version: number): Promise<unknown> => {
      const { files, release } = await made.table.changesOf(toVersion(version));
      expect(release).toBeUndefined();
      return files.map(({ kind, rowCount, onlyRows, deletedRows }) => [kind, rowCount, onlyRows, deletedRows]);
    };
    expect(await kinds(3)).toEqual([['delete', 2, BigInt64Array.of(1n, 3n), undefined]]);
    expect(await kinds(4)).toEqual([['delete', 1, undefined, BigInt64Array.of(0n, 1n, 3n)]]);
    expect(await made.lines(4)).toEqual(['{"id":3,"city":"Kiel","_change_type":"delete","_commit_version":4}']);
  });

  it('refuses tables whose snapshots have no numbers', async () => {
    const made = await create({ properties: { 'format-version': '1' } });
    await made.append([{ id: 1n, city: 'Kiel' }]);
    await expect(made.table.changesOf(toVersion(1))).rejects.toMatchObject({ code: 'CDF_UNSUPPORTED' });
  });
});
