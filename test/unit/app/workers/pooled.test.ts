import { describe, expect, it } from 'vitest';
import { pooledEncoder, pooledStager } from '../../../../src/app/workers/pooled.ts';
import { fromPlainError, toPlainError, type WorkerTasks } from '../../../../src/app/workers/worker-messages.ts';
import type { WorkerPool } from '../../../../src/app/workers/worker-pool.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import type { StorageProperties, StorageSettings } from '../../../../src/base/storage-settings.ts';
import type { EncodeTask } from '../../../../src/protocol/change-event.ts';
import { plainRecords } from '../../../../src/protocol/change-event.ts';
import type { StageTask } from '../../../../src/protocol/sealed-batch.ts';
import { s3Error } from '../../../../src/storage/s3/s3-errors.ts';
import { VendedSettings } from '../../../../src/storage/vended-settings.ts';
import type { ChangeFile } from '../../../../src/table/changes.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { StepClock } from '../../../support/step-clock.ts';

const hourMs = 3_600_000;
const pair = (name: string, end?: number): StorageProperties => ({
  's3.access-key-id': name,
  's3.secret-access-key': 'secret',
  ...(end === undefined ? {} : { 's3.session-token-expires-at-ms': String(end) }),
});

/** The other side of a thread's port: a task arrives as a copy, its result and its error go back as such. The store there takes one key. */
class Threads {
  accepted = 'a';
  readonly keys: (string | undefined)[] = [];
  readonly sizes: number[] = [];

  readonly run: WorkerPool['run'] = (kind, task) => {
    const arrived = structuredClone(task);
    const storage = storageOf(
      kind === 'stage' ? (arrived as StageTask).write.storage : (arrived as EncodeTask).changes.files.at(-1)?.storage,
    );
    if (kind === 'stage') this.sizes.push((arrived as StageTask).batch.bytes.byteLength);
    const key = storage?.['s3.access-key-id'];
    this.keys.push(key);
    if (storage === undefined || key === this.accepted)
      return Promise.resolve({ rowCount: 1 } as never as WorkerTasks[typeof kind]['result']);
    const request = { what: 'put', bucket: 'b', root: 's3://b', path: 'p', changes: true };
    return Promise.reject(fromPlainError(structuredClone(toPlainError(s3Error({ status: 403, code: 'InvalidAccessKeyId' }, request)))));
  };
}

function storageOf(settings: StorageSettings | undefined): StorageProperties | undefined {
  return settings as StorageProperties | undefined;
}

function vended(clock: StepClock, ask: () => StorageProperties, first: StorageProperties): VendedSettings {
  const settings = new VendedSettings({ ask: () => Promise.resolve(ask()), renews: true, clock });
  settings.offer(first);
  return settings;
}

function stageTask(storage: StorageSettings | undefined): StageTask {
  const batch = {
    table: 't',
    sequence: 0,
    bytes: new ArrayBuffer(8),
    recordBatches: [],
    ranges: [],
    recordCount: 0,
    maxTimestampMs: 0,
    sealedBy: 'age',
    openedAtMs: 0,
  } as const;
  const write = {
    location: 's3://b/t',
    storage,
    schema: { kind: 'struct', fields: [] },
    partitionColumns: [],
    partitionColumnsInFile: true,
    compression: 'zstd',
    partitionPathStyle: 'iceberg',
    statisticsColumns: -1,
  } as const;
  return { batch, write, decode: { sources: [], unknownMembers: 'ignore' }, fileNameStem: 's' };
}

function encodeTask(storage: StorageSettings | undefined): EncodeTask {
  const file = { kind: 'insert', path: 'f', sizeBytes: 1, partitionValues: {}, rowCount: 1 } as const;
  // What is made for the reader lies on this machine.
  const files: ChangeFile[] = [
    { ...file, location: '/scratch' },
    { ...file, storage },
  ];
  return {
    spec: {
      pipeline: 'p',
      envelope: 'flat',
      records: plainRecords,
      schemas: false,
      select: [],
      where: undefined,
      topic: 'o',
      partitions: 1,
      keyColumns: [],
      tombstones: false,
      transactions: false,
      truncates: false,
      table: 't',
      tableId: 'table-1',
      format: 'iceberg',
      location: 's3://b/t',
      compression: 'none',
    },
    changes: { version: toVersion(1), committedAt: toEpochMs(0), schema: { kind: 'struct', fields: [] }, partitionColumns: [], files },
    snapshot: false,
    fromOrdinal: 0,
    maxRows: 1,
    maxBytes: 1,
  };
}

const tasks = [
  ['a batch', (threads: Threads, storage: StorageSettings | undefined) => pooledStager(threads).stage(stageTask(storage))],
  ['changes', (threads: Threads, storage: StorageSettings | undefined) => pooledEncoder(threads).encode(encodeTask(storage))],
] as const;

describe.each(tasks)('a task of another thread, about %s', (_, perform) => {
  it('takes the settings of the table’s store along as they are at that time', async () => {
    const [clock, threads] = [new StepClock(), new Threads()];
    const storage = vended(clock, () => pair('b', clock.now() + hourMs), pair('a', clock.now() + hourMs));
    await perform(threads, storage);
    clock.advance(2 * hourMs);
    threads.accepted = 'b';
    await perform(threads, storage);
    expect(threads.keys).toEqual(['a', 'b']);
  });

  it('is done again, whole, with others when the store refuses them there', async () => {
    const [clock, threads] = [new StepClock(), new Threads()];
    threads.accepted = 'b';
    await perform(
      threads,
      vended(clock, () => pair('b'), pair('a')),
    );
    expect(threads.keys).toEqual(['a', 'b']);
    expect(new Set(threads.sizes)).not.toContain(0);
  });

  it('fails as the store says when there are no others yet, to be done again later', async () => {
    const [clock, threads] = [new StepClock(), new Threads()];
    threads.accepted = 'c';
    const same = vended(clock, () => pair('a'), pair('a'));
    await expect(perform(threads, same)).rejects.toMatchObject({ code: 'STORAGE_ACCESS_DENIED', kind: 'unavailable' });
    const another = vended(clock, () => pair('b'), pair('a'));
    await expect(perform(threads, another)).rejects.toMatchObject({ code: 'STORAGE_ACCESS_DENIED', kind: 'unavailable' });
    await expect(perform(threads, pair('mine'))).rejects.toMatchObject({ code: 'STORAGE_ACCESS_DENIED', kind: 'invalid' });
    expect(threads.keys).toEqual(['a', 'a', 'b', 'mine']);
  });

  it('takes none along where the process has its own', async () => {
    const threads = new Threads();
    await perform(threads, undefined);
    expect(threads.keys).toEqual([undefined]);
  });
});
