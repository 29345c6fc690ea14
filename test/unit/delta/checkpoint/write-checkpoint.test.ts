import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../../../src/base/bigint-json.ts';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { PlainRow } from '../../../../src/codec/rows.ts';
import { printActions } from '../../../../src/delta/action-json.ts';
import type { Action, AddFile } from '../../../../src/delta/actions.ts';
import { jsonChecksum } from '../../../../src/delta/checkpoint/json-checksum.ts';
import { sidecarsOf } from '../../../../src/delta/checkpoint/read-checkpoint.ts';
import { writeVersionChecksum } from '../../../../src/delta/checkpoint/version-checksum.ts';
import { writeCheckpoint } from '../../../../src/delta/checkpoint/write-checkpoint.ts';
import type { DeltaSnapshot } from '../../../../src/delta/delta-snapshot.ts';
import { cleanUpSidecars } from '../../../../src/delta/log/clean-up-sidecars.ts';
import { loadSnapshot } from '../../../../src/delta/log/load-snapshot.ts';
import { listLog } from '../../../../src/delta/log/log-listing.ts';
import { checkpointPath, checksumPath, commitPath, lastCheckpointPath, sidecarFolder } from '../../../../src/delta/log/log-names.ts';
import { parquetRows } from '../../../../src/delta/log/parquet-rows.ts';
import { printSchemaString } from '../../../../src/delta/schema-json.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { StepClock } from '../../../support/step-clock.ts';
import { fieldOf, long, structOf, text } from '../definition/definition-bench.ts';

const dayMs = 86_400_000;
const schema = structOf(
  fieldOf('id'),
  fieldOf('s', structOf(fieldOf('at', { kind: 'timestamp' }), fieldOf('l', { kind: 'list', element: long, elementNullable: true }))),
  fieldOf('wide', { kind: 'decimal', precision: 38, scale: 10 }),
  fieldOf('p', { kind: 'date' }),
  fieldOf('t', text),
);
const stats =
  '{"numRecords":3,"minValues":{"id":9007199254740993,"s":{"at":"2024-01-01T00:00:00.001Z"},"t":"a"},' +
  '"maxValues":{"id":9007199254740995,"s":{"at":"2024-01-02T00:00:00.000Z"},"t":"z"},"nullCount":{"id":0,"s":{"at":0,"l":1},"wide":3,"t":0}}';

function addOf(path: string): AddFile {
  return {
    kind: 'add',
    path,
    storedPath: path,
    partitionValues: { p: '2024-02-29' },
    sizeBytes: 7,
    modifiedMs: 5,
    dataChange: true,
    stats,
  };
}

/** A log of one table with these properties and three files. */
class Bench {
  readonly clock = new StepClock();
  readonly store = new MemoryObjectStore({ name: 't', clock: this.clock });
  readonly ids = new RandomIdSource(new SeededRandom(4));
  readonly target = { store: this.store, codec: parquetRows, ids: this.ids };

  async begin(configuration: Record<string, string>, ...more: readonly Action[]): Promise<DeltaSnapshot> {
    const v2 = configuration['delta.checkpointPolicy'] === 'v2' ? ['v2Checkpoint'] : [];
    const first: readonly Action[] = [
      { kind: 'protocol', minReaderVersion: 3, minWriterVersion: 7, readerFeatures: v2, writerFeatures: [...v2, 'domainMetadata'] },
      {
        kind: 'metaData',
        id: this.ids.uuid(),
        formatProvider: 'parquet',
        formatOptions: {},
        schemaString: printSchemaString(schema),
        partitionColumns: ['p'],
        configuration,
      },
      { kind: 'domainMetadata', domain: 'd', configuration: '{}', removed: false },
    ];
    await this.store.putIfAbsent(commitPath(0), printActions([...first, addOf('a'), addOf('b'), addOf('c'), ...more]));
    return this.load();
  }

  async load(): Promise<DeltaSnapshot> {
    const snapshot = await loadSnapshot({ name: 't', ...this.target });
    if (snapshot === undefined) throw new TypeError('no log');
    return snapshot;
  }

  write(snapshot: DeltaSnapshot): Promise<void> {
    return writeCheckpoint(this.target, snapshot, { nowMs: this.clock.now() });
  }

  async json(path: string): Promise<JsonObject> {
    const value = parseJson(new TextDecoder().decode(await this.store.read(path)), path);
    if (!isJsonObject(value)) throw new TypeError(path);
    return value;
  }

  async rows(path: string, columns: readonly string[]): Promise<readonly PlainRow[]> {
    return [...(await parquetRows.read(await this.store.read(path), columns)).rows];
  }
}

const stateOf = (snapshot: DeltaSnapshot): unknown => ({
  protocol: snapshot.protocol,
  metadata: snapshot.metadata,
  files: [...snapshot.files()].map((file) => [file.path, file.stats, file.partitionValues]).toSorted(),
  domains: [...snapshot.domains()],
});

describe('jsonChecksum', () => {
  it('is that of the protocol for its own example', () => {
    const example = {
      k0: "'v 0'",
      checksum: 'adsaskfljadfkjadfkj',
      k1: { k2: 2, k3: ['v3', [1, 2], { k4: 'v4', k5: ['v5', 'v6', 'v7'] }] },
    };
    expect(jsonChecksum(example)).toBe('6a92d155a59bf2eecbd4b4ec7fd1f875');
  });
});

describe('writeCheckpoint', () => {
  it('writes a V2 checkpoint with sidecars where the table asks for it, from which the same table is read', async () => {
    const bench = new Bench();
    const snapshot = await bench.begin({ 'delta.checkpointPolicy': 'v2' });
    await bench.write(snapshot);
    const [checkpoint] = (await listLog(bench.store, 0)).checkpoints;
    expect(checkpoint).toMatchObject({ version: 0, kind: 'v2', paths: [expect.stringMatching(/0{20}\.checkpoint\.[0-9a-f-]{36}\.json$/)] });
    // Without the commit only the checkpoint can tell.
    await bench.store.delete(commitPath(0));
    expect(stateOf(await bench.load())).toEqual(stateOf(snapshot));
  });

  it('names the V2 file and what is in it in the hint, under a checksum', async () => {
    const bench = new Bench();
    await bench.write(await bench.begin({ 'delta.checkpointPolicy': 'v2' }));
    const hint = await bench.json(lastCheckpointPath);
    const [checkpoint] = (await listLog(bench.store, 0)).checkpoints;
    expect(hint).toMatchObject({ version: 0, size: 8, numOfAddFiles: 3, checksum: jsonChecksum(hint) });
    const v2 = hint['v2Checkpoint'];
    expect(v2).toMatchObject({
      path: checkpoint?.paths[0]?.slice('_delta_log/'.length),
      sidecarFiles: [{ path: expect.stringMatching(/\.parquet$/) as string }],
    });
  });

  it('writes statistics and partition values by type where the table asks for them, and no text where it does not', async () => {
    const bench = new Bench();
    await bench.write(await bench.begin({ 'delta.checkpoint.writeStatsAsStruct': 'true', 'delta.checkpoint.writeStatsAsJson': 'false' }));
    const rows = await bench.rows(checkpointPath(0), ['add']);
    const add = rows.map((row) => row['add']).find((row) => row !== null);
    expect(add).toMatchObject({
      partitionValues_parsed: { p: 19782 },
      stats_parsed: {
        numRecords: 3n,
        minValues: { id: 9_007_199_254_740_993n, s: { at: 1_704_067_200_001_000n }, t: 'a' },
        maxValues: { id: 9_007_199_254_740_995n, s: { at: 1_704_153_600_000_000n }, t: 'z' },
        nullCount: { id: 0n, s: { at: 0n, l: 1n }, wide: 3n, t: 0n },
        tightBounds: null,
      },
    });
    expect(add).not.toHaveProperty('stats');
    // JSON would have cost the decimal its last digits: rather no bound.
    expect(add).not.toHaveProperty('stats_parsed.minValues.wide');
    expect(add).not.toHaveProperty('stats_parsed.nullCount.p');
  });

  it('forgets progress marks past the retention the table sets for them, and never those without a time', async () => {
    const bench = new Bench();
    const nowMs = bench.clock.now();
    const marks: readonly Action[] = [
      { kind: 'txn', appId: 'old', version: 1n, lastUpdatedMs: nowMs - 2 * dayMs },
      { kind: 'txn', appId: 'young', version: 2n, lastUpdatedMs: nowMs },
      { kind: 'txn', appId: 'for ever', version: 3n },
    ];
    await bench.write(await bench.begin({ 'delta.setTransactionRetentionDuration': 'interval 1 day' }, ...marks));
    await bench.store.delete(commitPath(0));
    expect([...(await bench.load()).progressStartingWith('').keys()].toSorted()).toEqual(['for ever', 'young']);
  });
});

describe('cleanUpSidecars', () => {
  it('takes what no checkpoint refers to, a day later', async () => {
    const bench = new Bench();
    await bench.write(await bench.begin({ 'delta.checkpointPolicy': 'v2' }));
    const [checkpoint] = (await listLog(bench.store, 0)).checkpoints;
    const [used = ''] = checkpoint === undefined ? [] : await sidecarsOf(bench.store, parquetRows, checkpoint);
    await bench.store.put(`${sidecarFolder}orphan.parquet`, new Uint8Array([1]));
    expect(await cleanUpSidecars(bench.target, { nowMs: bench.clock.now() })).toBe(0);
    bench.clock.advance(dayMs + 1);
    await bench.store.put(`${sidecarFolder}fresh.parquet`, new Uint8Array([1]));
    expect(await cleanUpSidecars(bench.target, { nowMs: bench.clock.now() })).toBe(1);
    const left: string[] = [];
    for await (const object of bench.store.list({ prefix: sidecarFolder })) left.push(object.path);
    expect(left.toSorted()).toEqual([used, `${sidecarFolder}fresh.parquet`].toSorted());
  });

  it('keeps all of them beside a checkpoint it cannot read', async () => {
    const bench = new Bench();
    await bench.write(await bench.begin({ 'delta.checkpointPolicy': 'v2' }));
    await bench.store.put(`_delta_log/${'0'.repeat(19)}1.checkpoint.${bench.ids.uuid()}.json`, new TextEncoder().encode('{"sidecar":'));
    await bench.store.put(`${sidecarFolder}orphan.parquet`, new Uint8Array([1]));
    bench.clock.advance(2 * dayMs);
    await expect(cleanUpSidecars(bench.target, { nowMs: bench.clock.now() })).rejects.toThrow(
      expect.objectContaining({ kind: 'corrupt' }) as Error,
    );
    expect(await bench.store.head(`${sidecarFolder}orphan.parquet`)).toBeDefined();
  });
});

describe('writeVersionChecksum', () => {
  it('says what the state adds up to, once', async () => {
    const bench = new Bench();
    const snapshot = await bench.begin({}, { kind: 'txn', appId: 'app', version: 3n });
    await writeVersionChecksum(bench.store, snapshot);
    const written = await bench.json(checksumPath(0));
    expect(written).toMatchObject({
      tableSizeBytes: 21,
      numFiles: 3,
      numMetadata: 1,
      numProtocol: 1,
      setTransactions: [{ appId: 'app', version: 3 }],
      domainMetadata: [{ domain: 'd', configuration: '{}', removed: false }],
      metadata: { id: snapshot.tableId },
    });
    expect(written).not.toHaveProperty('inCommitTimestampOpt');
    await bench.store.put(checksumPath(0), new TextEncoder().encode('{}'));
    await writeVersionChecksum(bench.store, snapshot);
    expect(await bench.json(checksumPath(0))).toEqual({});
  });
});
