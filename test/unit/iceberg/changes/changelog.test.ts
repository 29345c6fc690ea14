import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SystemRandom } from '../../../../src/base/system-random.ts';
import { parseSchema } from '../../../../src/expr/parse/parse-type.ts';
import { stageDataFiles } from '../../../../src/iceberg/files/stage-data-files.ts';
import { stageDeletes } from '../../../../src/iceberg/files/stage-deletes.ts';
import { IcebergTable } from '../../../../src/iceberg/iceberg-table.ts';
import { IcebergTables } from '../../../../src/iceberg/iceberg-tables.ts';
import { noDeletes } from '../../../../src/iceberg/scan/delete-index.ts';
import { liveFiles } from '../../../../src/iceberg/scan/live-files.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import type { SnapshotChange } from '../../../../src/iceberg/transaction/snapshot-change.ts';
import { openObjectStore } from '../../../../src/storage/open-object-store.ts';
import type { ChangelogRequest } from '../../../../src/table/queries.ts';
import type { Relation } from '../../../../src/table/relation.ts';
import { StepClock } from '../../../support/step-clock.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';

const columns = 'id BIGINT, v STRING';

describe('the changelog of a table', () => {
  let made: TestEngine;
  let table: IcebergTable;
  let tables = 0;
  const clock = new StepClock();

  beforeAll(async () => {
    made = await openTestEngine();
  });

  afterAll(async () => {
    await made.close();
  });

  beforeEach(async () => {
    table = await created();
  });

  async function created(properties: Readonly<Record<string, string>> = {}): Promise<IcebergTable> {
    const random = new SystemRandom();
    const ids = new RandomIdSource(random);
    const engine = (): Promise<TestEngine['engine']> => Promise.resolve(made.engine);
    const driver = new IcebergTables({ openStore: openObjectStore, clock, random, ids, version: 'test', engine });
    tables += 1;
    const location = join(made.directory, `t${tables}`);
    const definition = { schema: parseSchema(columns), partitionColumns: [], properties };
    const result = await driver.createTable({ name: 'db.t', location, definition, mode: 'create' });
    if (!(result.table instanceof IcebergTable)) throw new TypeError('not an Iceberg table');
    return result.table;
  }

  /** The id of the snapshot that appended the rows. */
  async function append(...rows: readonly (readonly [id: number, v: string])[]): Promise<bigint> {
    clock.advance(10);
    await table.operations.write({ rows: relationOf(rows), mode: { kind: 'append' } });
    return newest();
  }

  async function newest(): Promise<bigint> {
    return (await table.refresh()).snapshotId ?? -1n;
  }

  async function commit(change: Partial<SnapshotChange>): Promise<bigint> {
    const base = await table.refresh();
    await commitSnapshot(table.context, base, { kind: 'row-delta', added: [], removed: [], validation: {}, summary: {}, ...change });
    return newest();
  }

  /** `ordinal TYPE id v`, sorted. */
  async function changes(request: ChangelogRequest = {}): Promise<readonly string[]> {
    const relation = await table.changelog(request);
    try {
      const lines: string[] = [];
      for (const row of await made.rows(relation)) {
        const { id, v, _change_type: type, _change_ordinal: ordinal } = row;
        lines.push([ordinal, type, id, v].map(textOf).join(' '));
      }
      return lines.sort();
    } finally {
      await relation.dispose();
    }
  }

  it('leaves rows out that were deleted in the commit that added their file', async () => {
    const state = await table.refresh();
    const [file] = await stageDataFiles(
      table.context,
      state,
      relationOf([
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ]),
    );
    if (file === undefined) throw new TypeError('no file');
    const entry = { status: 'added', snapshotId: 1n, sequenceNumber: 1n, fileSequenceNumber: 1n, file } as const;
    const live = { entry, deletes: [], attached: noDeletes };
    const deletes = await stageDeletes(table.context, state, [{ file: live, positions: BigInt64Array.of(1n) }]);
    await commit({ added: [file, ...deletes.added] });
    expect(await changes()).toEqual(['0 INSERT 1 a', '0 INSERT 3 c']);
  });

  it('inserts rows again whose delete file was taken out of the table', async () => {
    await append([1, 'a'], [2, 'b']);
    const state = await table.refresh();
    const [file] = (await liveFiles(table.context, state)).data;
    if (file === undefined) throw new TypeError('no file');
    const { added } = await stageDeletes(table.context, state, [{ file, positions: BigInt64Array.of(0n) }]);
    const deleted = await commit({ added });
    await commit({ removed: added });
    expect(await changes()).toEqual(['0 INSERT 1 a', '0 INSERT 2 b', '1 DELETE 1 a', '2 INSERT 1 a']);
    expect(await changes({ startAfter: deleted })).toEqual(['0 INSERT 1 a']);
    expect(await changes({ netChanges: true })).toEqual(['0 INSERT 2 b', '2 INSERT 1 a']);
  });

  it('counts equal rows', async () => {
    await append([1, 'a'], [1, 'a'], [1, 'a']);
    await append([1, 'a']);
    await table.operations.delete({});
    await append([1, 'a'], [1, 'a']);
    expect(await changes({ netChanges: true })).toEqual(['3 INSERT 1 a', '3 INSERT 1 a']);
    expect(await changes()).toHaveLength(10);
  });

  it('pairs a delete and an insert of one identifier, and refuses several deletes of it', async () => {
    await append([1, 'a'], [2, 'b'], [2, 'c']);
    const before = await newest();
    await table.operations.write({
      rows: relationOf([
        [1, 'x'],
        [3, 'y'],
      ]),
      mode: { kind: 'overwrite' },
    });
    const request = { startAfter: before, identifierColumns: ['V'] };
    expect(await changes(request)).toEqual(['0 DELETE 1 a', '0 DELETE 2 b', '0 DELETE 2 c', '0 INSERT 1 x', '0 INSERT 3 y']);
    await expect(changes({ startAfter: before, identifierColumns: ['id'] })).rejects.toMatchObject({
      errorClass: 'CHANGELOG_AMBIGUOUS_IDENTIFIER',
      message:
        'Cannot compute updates because there are multiple rows with the same identifier fields([id]). Please make sure the rows are unique.',
    });
    const again = await newest();
    await table.operations.write({
      rows: relationOf([
        [1, 'z'],
        [1, 'w'],
      ]),
      mode: { kind: 'overwrite' },
    });
    expect(await changes({ startAfter: again, identifierColumns: ['id'] })).toEqual([
      '0 DELETE 3 y',
      '0 INSERT 1 z',
      '0 UPDATE_AFTER 1 w',
      '0 UPDATE_BEFORE 1 x',
    ]);
  });

  it('reads rows by the newest schema, or by that of the end', async () => {
    const first = await append([1, 'a']);
    await table.operations.alter({ kind: 'rename-column', path: ['v'], to: 'w' });
    const columnsOf = async (request: ChangelogRequest): Promise<readonly string[]> => {
      const relation = await table.changelog(request);
      await relation.dispose();
      return relation.schema.fields.map(({ name }) => name);
    };
    const added = ['_change_type', '_change_ordinal', '_commit_snapshot_id'];
    expect(await columnsOf({ until: first })).toEqual(['id', 'w', ...added]);
    expect(await columnsOf({ until: first, schemaOf: 'until' })).toEqual(['id', 'v', ...added]);
  });

  it('takes times for the edges of a range', async () => {
    const ids = [await append([1, 'a']), await append([2, 'b']), await append([3, 'c'])];
    const { metadata } = await table.refresh();
    const times = ids.map((id) => metadata.snapshots.find(({ snapshotId }) => snapshotId === id)?.timestampMs ?? 0);
    expect(await changes({ startAfterMs: times[0], untilMs: times[1] })).toEqual(['0 INSERT 2 b']);
    expect(await changes({ startAfterMs: 0 })).toHaveLength(3);
    expect(await changes({ untilMs: 0 })).toEqual([]);
    expect(await changes({ startAfterMs: times[2] })).toEqual([]);
  });

  it('says why a range or its identifiers cannot be, in the words of the reference implementation', async () => {
    expect(await changes()).toEqual([]);
    const first = await append([1, 'a']);
    const second = await append([2, 'b']);
    await expect(changes({ startAfter: second, until: first })).rejects.toThrow(
      `Starting snapshot (exclusive) ${second} is not a parent ancestor of end snapshot ${first}`,
    );
    await expect(changes({ until: 5n })).rejects.toThrow('Cannot find the end snapshot: 5');
    await expect(changes({ identifierColumns: ['id'], netChanges: true })).rejects.toThrow('Not support net changes with update images');
    await expect(changes({ computeUpdates: true })).rejects.toThrow(
      'Cannot compute the update images because identifier columns are not set',
    );
    await expect(changes({ identifierColumns: ['idd'] })).rejects.toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' });
  });
});

function relationOf(rows: readonly (readonly [id: number, v: string])[]): Relation {
  const values = rows.map(([id, v]) => `(CAST(${id} AS BIGINT), '${v}')`);
  return { sql: `SELECT * FROM (VALUES ${values.join(', ')}) AS t(id, v)`, schema: parseSchema(columns) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number' ? String(value) : 'null';
}
