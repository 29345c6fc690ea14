import { describe, expect, it } from 'vitest';
import { ancestorsOf } from '../../../src/iceberg/ancestry.ts';
import { findSnapshotState } from '../../../src/iceberg/find-snapshot-state.ts';
import { historyOf } from '../../../src/iceberg/history.ts';
import type { SnapshotRef, TableMetadata } from '../../../src/iceberg/metadata/table-metadata.ts';
import type { LoadedMetadata } from '../../../src/iceberg/pointer/table-pointer.ts';
import { snapshotIdOfVersion } from '../../../src/iceberg/snapshot-at.ts';
import { snapshotStateOf } from '../../../src/iceberg/snapshot-state-of.ts';
import type { Field } from '../../../src/schema/types.ts';
import { metadataOf, snapshotOf } from '../../support/iceberg/made-entries.ts';

const id: Field = { name: 'id', type: { kind: 'integer' }, nullable: true, id: 1 };
const added: Field = { name: 'added', type: { kind: 'string' }, nullable: true, id: 2 };

function refOf(snapshotId: bigint, type: 'branch' | 'tag'): SnapshotRef {
  return { snapshotId, type, minSnapshotsToKeep: undefined, maxSnapshotAgeMs: undefined, maxRefAgeMs: undefined };
}

/** Snapshots 10, 20, 30 on main, the last by a newer schema; 25 on a branch of 20; 10 rolled back to and forward again in between. */
function loadedOf(parts: Partial<TableMetadata> = {}): LoadedMetadata {
  const metadata = metadataOf([{ specId: 0, fields: [] }], {
    schemas: [
      { schemaId: 0, struct: { kind: 'struct', fields: [id] }, identifierFieldIds: [] },
      { schemaId: 1, struct: { kind: 'struct', fields: [id, added] }, identifierFieldIds: [] },
    ],
    currentSchemaId: 1,
    currentSnapshotId: 30n,
    properties: { 'tidewater.progress.kafka/a': '7', 'tidewater.progress.other': 'x' },
    snapshots: [
      snapshotOf({ snapshotId: 10n, sequenceNumber: 1n, timestampMs: 1_000 }),
      snapshotOf({ snapshotId: 20n, parentSnapshotId: 10n, sequenceNumber: 2n, timestampMs: 2_000 }),
      snapshotOf({ snapshotId: 25n, parentSnapshotId: 20n, sequenceNumber: 3n, timestampMs: 2_500 }),
      snapshotOf({
        snapshotId: 30n,
        parentSnapshotId: 20n,
        sequenceNumber: 4n,
        timestampMs: 3_000,
        schemaId: 1,
        summary: {
          operation: 'overwrite',
          'total-data-files': '3',
          'total-files-size': '99',
          'total-records': '12',
          'total-delete-files': '0',
        },
      }),
    ],
    snapshotLog: [
      { timestampMs: 1_000, snapshotId: 10n },
      { timestampMs: 2_000, snapshotId: 20n },
      { timestampMs: 2_600, snapshotId: 10n },
      { timestampMs: 2_700, snapshotId: 20n },
      { timestampMs: 3_000, snapshotId: 30n },
    ],
    refs: new Map([
      ['main', refOf(30n, 'branch')],
      ['audit', refOf(25n, 'branch')],
      ['first', refOf(10n, 'tag')],
    ]),
    ...parts,
  });
  return { metadata, metadataLocation: '/lake/t/metadata/v1.metadata.json' };
}

describe('the snapshot a read names', () => {
  it('is read by its own schema by id, tag and time, and by the current one by branch', () => {
    const loaded = loadedOf();
    const columns = (state: { readonly schema: { readonly fields: readonly Field[] } }): readonly string[] =>
      state.schema.fields.map(({ name }) => name);
    expect(columns(findSnapshotState(loaded, { kind: 'snapshot-id', id: 20n }))).toEqual(['id']);
    expect(columns(findSnapshotState(loaded, { kind: 'tag', name: 'first' }))).toEqual(['id']);
    expect(columns(findSnapshotState(loaded, { kind: 'timestamp', micros: 2_999_000n }))).toEqual(['id']);
    expect(columns(findSnapshotState(loaded, { kind: 'branch', name: 'audit' }))).toEqual(['id', 'added']);
  });

  it('is an id or a name where a version is asked for', () => {
    const loaded = loadedOf();
    expect(findSnapshotState(loaded, { kind: 'version', version: 25n }).snapshotId).toBe(25n);
    expect(findSnapshotState(loaded, { kind: 'version', version: ' 20 ' }).snapshotId).toBe(20n);
    expect(findSnapshotState(loaded, { kind: 'version', version: 'first' }).snapshotId).toBe(10n);
  });

  it('is the one that was current at a time, rolled back or not', () => {
    const at = (micros: bigint): bigint | undefined => findSnapshotState(loadedOf(), { kind: 'timestamp', micros }).snapshotId;
    expect([at(1_000_000n), at(2_599_999n), at(2_600_000n), at(2_750_000n), at(9_000_000n)]).toEqual([10n, 20n, 10n, 20n, 30n]);
  });

  it.each([
    [{ kind: 'snapshot-id', id: 123456789n } as const, 'Cannot find snapshot with ID 123456789'],
    [{ kind: 'version', version: '123456789' } as const, 'Cannot find snapshot with ID 123456789'],
    [{ kind: 'version', version: 'nope' } as const, 'Cannot find matching snapshot ID or reference name for version nope'],
    [{ kind: 'timestamp', micros: 999_999n } as const, 'Cannot find a snapshot older than 1970-01-01T00:00:00.999+00:00'],
    [{ kind: 'timestamp', micros: -978_307_200_000_000n } as const, 'Cannot find a snapshot older than 1939-01-01T00:00:00+00:00'],
  ])('is refused in the words of the reference implementation: %o', (point, message) => {
    expect(() => findSnapshotState(loadedOf(), point)).toThrow(
      expect.objectContaining({ code: 'CANNOT_FIND_SNAPSHOT', kind: 'not-found', message }) as Error,
    );
  });

  it('is refused with two columns of one name, the case aside, because the engine would read one of them twice', () => {
    const twins: readonly Field[] = [id, { ...added, name: 'ID' }];
    const schemas = [{ schemaId: 1, struct: { kind: 'struct', fields: twins }, identifierFieldIds: [] }] as const;
    expect(() => snapshotStateOf(loadedOf({ schemas }), { branch: 'main' })).toThrow(
      expect.objectContaining({
        kind: 'corrupt',
        message: expect.stringMatching(
          /v1\.metadata\.json.*schema 1 has the column "ID" twice; the case of a name does not count/,
        ) as string,
      }) as Error,
    );
  });

  it('tells branches from tags', () => {
    expect(() => findSnapshotState(loadedOf(), { kind: 'branch', name: 'first' })).toThrow('first is a tag, not a branch');
    expect(() => findSnapshotState(loadedOf(), { kind: 'tag', name: 'gone' })).toThrow('Cannot find ref gone');
  });
});

describe('a view', () => {
  it('says what the snapshot and the metadata say', () => {
    const state = snapshotStateOf(loadedOf(), { branch: 'main' });
    expect(state).toMatchObject({ version: 4, snapshotId: 30n, committedAt: 3_000, fileCount: 3, sizeBytes: 99, rowCount: 12 });
    expect([state.progressOf('kafka/a'), state.progressOf('other'), [...state.progressStartingWith('kafka/')]]).toEqual([
      7n,
      undefined,
      [['kafka/a', 7n]],
    ]);
  });

  it('of a table without snapshots has no rows', () => {
    const state = snapshotStateOf(loadedOf({ snapshots: [], refs: new Map(), currentSnapshotId: undefined, snapshotLog: [] }), {
      branch: 'main',
    });
    expect(state).toMatchObject({ version: 0, snapshot: undefined, rowCount: 0, fileCount: 0 });
  });

  it('knows no number of rows when there may be deletes', () => {
    const snapshots = [snapshotOf({ snapshotId: 30n, summary: { operation: 'append', 'total-records': '5', 'total-delete-files': '1' } })];
    expect(snapshotStateOf(loadedOf({ snapshots }), { snapshotId: 30n }).rowCount).toBeUndefined();
  });
});

describe('versions', () => {
  it('are sequence numbers in the ancestry of the branch', () => {
    const { metadata } = loadedOf();
    expect([1, 2, 3, 4].map((version) => snapshotIdOfVersion(metadata, 30n, version))).toEqual([10n, 20n, undefined, 30n]);
  });

  it('are the numbers of the snapshots in format version 1', () => {
    const loaded = loadedOf({ formatVersion: 1 });
    expect(snapshotStateOf(loaded, { branch: 'main' }).version).toBe(3);
    expect([0, 1, 2, 3, 4].map((version) => snapshotIdOfVersion(loaded.metadata, 30n, version))).toEqual([
      undefined,
      10n,
      20n,
      30n,
      undefined,
    ]);
    expect(historyOf(snapshotStateOf(loaded, { branch: 'main' }), {}).map(({ version }) => version)).toEqual([3, 2, 1]);
  });

  it('are told newest first, as far as they are asked for', () => {
    const state = snapshotStateOf(loadedOf(), { branch: 'main' });
    expect(historyOf(state, {}).map(({ version, operation }) => [version, operation])).toEqual([
      [4, 'overwrite'],
      [2, 'append'],
      [1, 'append'],
    ]);
    expect(historyOf(state, { limit: 1 })).toHaveLength(1);
  });

  it('end with an error when snapshots are their own ancestors', () => {
    const { metadata } = loadedOf({
      snapshots: [snapshotOf({ snapshotId: 10n, parentSnapshotId: 20n }), snapshotOf({ snapshotId: 20n, parentSnapshotId: 10n })],
    });
    expect(() => [...ancestorsOf(metadata, metadata.snapshots[0])]).toThrow('its own ancestor');
  });
});
