import { beforeEach, describe, expect, it } from 'vitest';
import { type JsonObject, printJson } from '../../../../src/base/bigint-json.ts';
import { DeltaLog } from '../../../../src/delta/delta-log.ts';
import { historyOf } from '../../../../src/delta/history.ts';
import { loadSnapshot } from '../../../../src/delta/log/load-snapshot.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { parquetRows } from '../../../../src/delta/log/parquet-rows.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { StepClock } from '../../../support/step-clock.ts';

const protocol = { protocol: { minReaderVersion: 1, minWriterVersion: 2 } };
const metaData = metaDataOf('{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}');
const withoutSchema = { metaData: { id: 'a', format: { provider: 'parquet', options: {} }, partitionColumns: [], configuration: {} } };
const withUnknownType = metaDataOf('{"type":"struct","fields":[{"name":"i","type":"interval","nullable":true,"metadata":{}}]}');
const addWithoutSize = { add: { path: 'gone', partitionValues: {}, modificationTime: 1, dataChange: true } };
const remove = { remove: { path: 'gone', dataChange: true, deletionTimestamp: 2 } };

const twoNames = `{"type":"struct","fields":[${['id', 'ID'].map((name) => `{"name":"${name}","type":"long","nullable":true,"metadata":{}}`).join()}]}`;

function metaDataOf(schemaString: string): JsonObject {
  return { metaData: { id: 'a', format: { provider: 'parquet', options: {} }, schemaString, partitionColumns: [], configuration: {} } };
}

describe('damage in a log', () => {
  let clock: StepClock;
  let store: MemoryObjectStore;
  let versions: number;

  beforeEach(() => {
    clock = new StepClock();
    store = new MemoryObjectStore({ name: 't', clock });
    versions = 0;
  });

  async function commit(...actions: readonly JsonObject[]): Promise<void> {
    const text = actions.map((action) => `${printJson(action)}\n`).join('');
    await store.putIfAbsent(commitPath(versions), new TextEncoder().encode(text));
    versions += 1;
    clock.advance(1000);
  }

  const load = () => loadSnapshot({ name: 't', store, codec: parquetRows });

  it.each([
    ['a schema is missing', [[protocol, withoutSchema], [metaData]]],
    ['a schema has a type that is not known', [[protocol, withUnknownType], [metaData]]],
    ['a protocol has no version', [[{ protocol: { minReaderVersion: 1 } }, metaData], [protocol]]],
    ['a schema has two names that differ in case', [[protocol, metaDataOf(twoNames)], [metaData]]],
    ['metadata is a flag', [[protocol, { metaData: true }], [metaData]]],
    ['a protocol is text', [[{ protocol: 'x' }, metaData], [protocol]]],
    ['an action is null, which says nothing', [[protocol, metaData], [{ add: null, remove: null }]]],
    [
      'actions that nobody knows are no objects',
      [
        [protocol, metaData],
        [{ sparkle: 'x' }, { twinkle: 5 }, { sidecar: true }],
      ],
    ],
    ['an added file has no size and is removed', [[protocol, metaData], [addWithoutSize], [remove]]],
  ])('does no harm once it is superseded: %s', async (_, commits) => {
    for (const actions of commits) await commit(...actions);
    const snapshot = await load();
    expect({ version: snapshot?.version, columns: snapshot?.schema.fields.map(({ name }) => name), files: snapshot?.fileCount }).toEqual({
      version: commits.length - 1,
      columns: ['id'],
      files: 0,
    });
  });

  it.each([
    ['a schema is missing', [[protocol, metaData], [withoutSchema]], 'DELTA_LOG_CORRUPT', '"schemaString" is missing'],
    ['a schema has a type that is not known', [[protocol, withUnknownType]], 'DELTA_TYPE_UNSUPPORTED', 'interval'],
    ['a protocol has no version', [[protocol, metaData], [{ protocol: {} }]], 'DELTA_LOG_CORRUPT', '"minReaderVersion" is missing'],
    ['a file has no size', [[protocol, metaData], [addWithoutSize]], 'DELTA_LOG_CORRUPT', '"size" is missing'],
    ['a schema has two names that differ in case', [[protocol, metaDataOf(twoNames)]], 'DELTA_SCHEMA_INVALID', '"ID" twice'],
    ['a file is text', [[protocol, metaData], [{ add: 'text' }]], 'DELTA_LOG_CORRUPT', '00001.json line 1: "add" is not an object'],
    ['a removal is a number', [[protocol, metaData], [{ remove: 5 }]], 'DELTA_LOG_CORRUPT', '00001.json line 1: "remove" is not'],
    ['metadata is a flag', [[protocol, metaData], [{ metaData: true }]], 'DELTA_LOG_CORRUPT', '00001.json line 1: "metaData" is not'],
    ['a protocol is text', [[protocol, metaData], [{ protocol: 'x' }]], 'DELTA_LOG_CORRUPT', '00001.json line 1: "protocol" is not'],
    ['a mark is a list', [[protocol, metaData], [{ txn: [] }]], 'DELTA_LOG_CORRUPT', '00001.json line 1: "txn" is not an object'],
    ['what is removed has no path', [[protocol, metaData], [{ remove: { dataChange: true } }]], 'DELTA_LOG_CORRUPT', '"path" is missing'],
  ])('is refused while it is in force: %s', async (_, commits, code, message) => {
    for (const actions of commits) await commit(...actions);
    await expect(load()).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
  });

  it('is passed by a process that follows the log, shown by its history, and refused as a version of its own', async () => {
    const log = new DeltaLog({ name: 't', store, codec: parquetRows, clock });
    await commit(protocol, metaData);
    await log.refresh();
    await commit(withoutSchema);
    await expect(log.refresh()).rejects.toMatchObject({ code: 'DELTA_LOG_CORRUPT' });
    await commit(metaData);
    expect((await log.refresh()).version).toBe(2);
    expect((await historyOf(log, {})).map(({ version }) => version)).toEqual([2, 1, 0]);
    await expect(log.snapshotAt(toVersion(1))).rejects.toMatchObject({ code: 'DELTA_LOG_CORRUPT' });
    await expect(log.readCommit(toVersion(1))).rejects.toMatchObject({ code: 'DELTA_LOG_CORRUPT' });
  });
});
