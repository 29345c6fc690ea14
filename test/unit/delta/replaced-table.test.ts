import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { commitPath } from '../../../src/delta/log/log-names.ts';
import { LocalObjectStore } from '../../../src/storage/local-object-store.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { type AppendIntent, toCommitId } from '../../../src/table/commit.ts';
import type { Table, TableDefinition } from '../../../src/table/table.ts';
import { toVersion } from '../../../src/table/version.ts';
import { StepClock } from '../../support/step-clock.ts';

const definition: TableDefinition = {
  schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
  partitionColumns: [],
  properties: { 'delta.enableChangeDataFeed': 'true' },
};

/** One place of a table, and processes that know nothing of each other. */
class Place {
  readonly clock = new StepClock();
  readonly ids = new RandomIdSource(new SeededRandom(1));
  readonly store: ObjectStore;

  constructor(storeOf: (place: Place) => ObjectStore) {
    this.store = storeOf(this);
  }

  table(options: { readonly staysWithTable?: boolean } = {}): Promise<Table> {
    const rewriter = { rewrite: () => Promise.reject(new TypeError('not used')) };
    const { clock, ids, store } = this;
    const parts = { clock, ids, random: new SeededRandom(3), version: '1', rewriter, openStore: () => store };
    return new DeltaTables({ ...parts, ...options }).create('orders', store.root, definition);
  }

  /** What `rm -rf` does. */
  async remove(): Promise<void> {
    for (const path of await this.paths()) await this.store.delete(path);
  }

  async paths(prefix = ''): Promise<readonly string[]> {
    const paths: string[] = [];
    for await (const { path } of this.store.list({ prefix })) paths.push(path);
    return paths;
  }

  async versions(): Promise<readonly string[]> {
    return (await this.paths('_delta_log/')).filter((path) => path.endsWith('.json'));
  }

  async intent(until: bigint, from?: bigint): Promise<AppendIntent> {
    const commitId = toCommitId(this.ids.uuid());
    const path = `part-${commitId}.parquet`;
    await this.store.put(path, new Uint8Array(10));
    return {
      commitId,
      files: [{ path, partitionValues: {}, sizeBytes: 10, rowCount: 1, modifiedMs: this.clock.now(), statistics: [] }],
      stagedSinceMs: this.clock.monotonicMs(),
      progress: [{ writerId: 'p:orders:0', from, until }],
      userMetadata: '',
    };
  }

  async append(table: Table, until: bigint, from?: bigint): Promise<void> {
    expect(await table.tryAppend(await table.refresh(), await this.intent(until, from))).toMatchObject({ kind: 'committed' });
  }
}

const stores: readonly (readonly [string, () => Promise<Place>])[] = [
  ['in memory', () => Promise.resolve(new Place(({ clock }) => new MemoryObjectStore({ name: 't', clock })))],
  [
    'on a file system',
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'tidewater-replaced-'));
      onTestFinished(() => rm(directory, { recursive: true, force: true }));
      return new Place(({ ids }) => new LocalObjectStore({ directory, ids }));
    },
  ],
];

describe.each(stores)('a table %s that somebody dropped', (_, open) => {
  it('and created again takes no commit that was worked out from the old one, and keeps its log whole', async () => {
    const place = await open();
    const ours = await place.table({ staysWithTable: true });
    await place.append(ours, 5n);
    const base = await ours.refresh();
    await place.remove();
    // As far as the old one was, so that the numbers of the versions fit.
    await place.append(await place.table(), 7n);
    const log = await place.versions();
    await expect(ours.tryAppend(base, await place.intent(9n, 5n))).rejects.toMatchObject({ code: 'TABLE_REPLACED', kind: 'discontinuity' });
    expect(await place.versions()).toEqual(log);
    await expect(ours.refresh()).rejects.toMatchObject({ code: 'TABLE_REPLACED' });
  });

  it('takes no commit, not even as a first version', async () => {
    const place = await open();
    const ours = await place.table({ staysWithTable: true });
    await place.append(ours, 5n);
    const base = await ours.refresh();
    const intent = await place.intent(9n, 5n);
    await place.remove();
    await expect(ours.tryAppend(base, intent)).rejects.toMatchObject({ code: 'TABLE_GONE', kind: 'discontinuity' });
    expect(await place.paths('_delta_log/')).toEqual([]);
    await expect(ours.refresh()).rejects.toMatchObject({ code: 'TABLE_GONE' });
  });

  it('is refused to a writer that follows whatever is there, for the commit under way only', async () => {
    const place = await open();
    const ours = await place.table();
    await place.append(ours, 5n);
    const base = await ours.refresh();
    await place.remove();
    await place.append(await place.table(), 7n);
    expect(await ours.tryAppend(base, await place.intent(9n, 5n))).toMatchObject({ kind: 'conflicted' });
    expect((await ours.refresh()).tableId).not.toBe(base.tableId);
    await place.append(ours, 9n, 7n);
    expect(await place.versions()).toEqual([commitPath(0), commitPath(1), commitPath(2)]);
  });

  it('takes no commit while only a checkpoint of it is left', async () => {
    const place = await open();
    const ours = await place.table({ staysWithTable: true });
    await place.append(ours, 5n);
    await ours.checkpoint({ dryRun: false });
    const base = await ours.refresh();
    for (const path of await place.versions()) await place.store.delete(path);
    await expect(ours.refresh()).rejects.toMatchObject({ code: 'TABLE_GONE' });
    await expect(ours.tryAppend(base, await place.intent(9n, 5n))).rejects.toMatchObject({ code: 'TABLE_GONE' });
    await place.remove();
    await expect(ours.refresh()).rejects.toMatchObject({ code: 'TABLE_GONE' });
    expect(await place.paths('_delta_log/')).toEqual([]);
  });

  it('and created again is no table of which versions of the old one are read', async () => {
    const place = await open();
    const ours = await place.table({ staysWithTable: true });
    await place.append(ours, 5n);
    await place.append(ours, 6n, 5n);
    await place.remove();
    const theirs = await place.table();
    await place.append(theirs, 7n);
    await place.append(theirs, 8n, 7n);
    await expect(ours.changesOf(toVersion(2))).rejects.toMatchObject({ code: 'TABLE_REPLACED' });
  });

  it('goes on when it is put back as it was', async () => {
    const place = await open();
    const ours = await place.table({ staysWithTable: true });
    await place.append(ours, 5n);
    const kept = await Promise.all((await place.paths()).map(async (path) => ({ path, bytes: await place.store.read(path) })));
    await place.remove();
    await expect(ours.refresh()).rejects.toMatchObject({ code: 'TABLE_GONE' });
    for (const { path, bytes } of kept) await place.store.put(path, bytes);
    await place.append(ours, 6n, 5n);
    expect((await ours.refresh()).version).toBe(2);
  });
});

describe('staged files', () => {
  it('that somebody deleted before a late commit keep the commit out of the log, and the next one goes on', async () => {
    const place = new Place(({ clock }) => new MemoryObjectStore({ name: 't', clock }));
    const table = await place.table();
    const base = await table.refresh();
    const intent = await place.intent(5n);
    const path = intent.files[0]?.path ?? '';
    await place.store.delete(path);
    place.clock.advance(2_000);
    const outcome = await table.tryAppend(base, intent);
    expect(outcome).toEqual({ kind: 'conflicted', conflict: { kind: 'staged-missing', latest: 0, path } });
    expect(await place.versions()).toEqual([commitPath(0)]);
    await place.append(table, 5n);
  });
});
