import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCommit } from '../../../../src/delta/action-json.ts';
import type { Action, AddFile } from '../../../../src/delta/actions.ts';
import { DeltaSnapshot } from '../../../../src/delta/delta-snapshot.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { Reconciliation } from '../../../../src/delta/log/compact-log.ts';
import { compactedPath } from '../../../../src/delta/log/log-names.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';

const file = (path: string, members: Partial<AddFile> = {}): AddFile => ({
  kind: 'add',
  path,
  storedPath: path,
  partitionValues: {},
  sizeBytes: 1,
  modifiedMs: 1,
  dataChange: true,
  ...members,
});

const left = (...commits: readonly (readonly Action[])[]): readonly Action[] => {
  const reconciliation = new Reconciliation();
  for (const actions of commits) reconciliation.add(actions);
  return reconciliation.actions();
};

describe('Reconciliation', () => {
  it('keeps the newest of each mark, domain and file, and nothing that only tells about a commit', () => {
    const found = left(
      [file('a'), file('b'), { kind: 'txn', appId: 'x', version: 1n }, { kind: 'commitInfo', body: {} }],
      [
        { kind: 'txn', appId: 'x', version: 2n },
        { kind: 'txn', appId: 'y', version: 1n },
        { kind: 'remove', path: 'a', storedPath: 'a', dataChange: true, deletedMs: 5 },
        { kind: 'cdc', path: 'c', storedPath: 'c', partitionValues: {}, sizeBytes: 1 },
      ],
    );
    expect(found).toEqual([
      { kind: 'txn', appId: 'x', version: 2n },
      { kind: 'txn', appId: 'y', version: 1n },
      { kind: 'remove', path: 'a', storedPath: 'a', dataChange: false, deletedMs: 5 },
      file('b', { dataChange: false }),
    ]);
  });

  it('keeps what ends something that may be older', () => {
    const removed: readonly Action[] = [
      { kind: 'domainMetadata', domain: 'd', configuration: '', removed: true },
      { kind: 'remove', path: 'old', storedPath: 'old', dataChange: false },
    ];
    expect(left(removed)).toEqual(removed);
  });

  it('tells a file under one deletion vector from the same file under another', () => {
    const vector = { storageType: 'u', pathOrInlineDv: 'v', offset: 1, sizeInBytes: 1, cardinality: 1 };
    const found = left(
      [file('a')],
      [{ kind: 'remove', path: 'a', storedPath: 'a', dataChange: true }, file('a', { deletionVector: vector })],
    );
    expect(found.map((action) => [action.kind, 'deletionVector' in action ? action.deletionVector : undefined])).toEqual([
      ['remove', undefined],
      ['add', vector],
    ]);
  });

  it('takes a file that came back', () => {
    expect(left([{ kind: 'remove', path: 'a', storedPath: 'a', dataChange: true }], [file('a')])).toEqual([
      file('a', { dataChange: false }),
    ]);
  });
});

describe('compactLog', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const stateOf = (snapshot: DeltaSnapshot) => ({
    protocol: snapshot.protocol,
    metadata: snapshot.metadata,
    files: [...snapshot.files()].map((live) => ({ ...live, dataChange: false })).sort((a, b) => (a.path < b.path ? -1 : 1)),
    tombstones: [...snapshot.tombstones()].map(({ path }) => path).sort(),
    txns: [...snapshot.txns()],
    domains: [...snapshot.domains()],
  });
  const worked = async (name: string): Promise<DeltaTable> => {
    const table = await tables.create(name, 'id BIGINT, v STRING', {
      properties: { 'delta.enableDeletionVectors': 'true', 'delta.enableRowTracking': 'true', 'delta.checkpointInterval': '1000' },
    });
    for (const from of [0, 10, 20]) await tables.append(table, `SELECT i AS id, 'v' AS v FROM range(${from}, ${from + 10}) t(i)`);
    await table.operations.delete({ condition: parseExpression('id % 7 = 0') });
    await table.operations.update({
      condition: parseExpression('id = 1'),
      assignments: [{ target: ['v'], value: parseExpression("'w'") }],
    });
    await table.operations.write({
      rows: await tables.query(`SELECT CAST(99 AS BIGINT) AS id, 'z' AS v`),
      mode: { kind: 'append' },
      idempotency: { appId: 'app', version: 3n },
    });
    return table;
  };

  it('leaves the state that its commits leave, and is not written twice', async () => {
    const table = await worked('whole');
    const snapshot = await table.refresh();
    const { version } = snapshot;
    expect(await table.operations.compactLog?.()).toEqual([{ from: 0, until: version, written: true }]);
    const bytes = await table.context.store.read(compactedPath(0, version));
    const { actions } = parseCommit(bytes, { file: 'compacted', root: table.context.store.root });
    const replayed = DeltaSnapshot.replay('whole', { version, modifiedMs: snapshot.committedAt }, actions);
    expect(stateOf(replayed)).toEqual(stateOf(snapshot));
    expect(await table.operations.compactLog?.()).toEqual([{ from: 0, until: version, written: false }]);
    expect(await tables.rows(await tables.open('whole'))).toEqual(await tables.rows(table));
  });

  it('begins after the newest checkpoint, and leaves a single commit alone', async () => {
    const table = await worked('after');
    const { version } = await table.checkpoint({ dryRun: false });
    await tables.append(table, `SELECT 1000 AS id, 'v' AS v`);
    expect(await table.operations.compactLog?.()).toEqual([]);
    await tables.append(table, `SELECT 1001 AS id, 'v' AS v`);
    expect(await table.operations.compactLog?.()).toEqual([{ from: version + 1, until: version + 2, written: true }]);
    expect(await tables.rows(await tables.open('after'))).toEqual(await tables.rows(table));
  });
});
