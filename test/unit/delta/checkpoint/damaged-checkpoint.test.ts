import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { InputRow } from '../../../../src/codec/build-columns.ts';
import { printActions } from '../../../../src/delta/action-json.ts';
import { writeCheckpoint } from '../../../../src/delta/checkpoint/write-checkpoint.ts';
import { loadSnapshot } from '../../../../src/delta/log/load-snapshot.ts';
import { checkpointPath, commitPath, sidecarFolder } from '../../../../src/delta/log/log-names.ts';
import { parquetRows } from '../../../../src/delta/log/parquet-rows.ts';
import { printSchemaString } from '../../../../src/delta/schema-json.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { StepClock } from '../../../support/step-clock.ts';
import { fieldOf, long, structOf } from '../definition/definition-bench.ts';

const schema = structOf(fieldOf('id'));
const noFiles = structOf(fieldOf('protocol', structOf(fieldOf('minReaderVersion', { kind: 'integer' }))), fieldOf('id', long));

/** A log of one file whose commit was cleaned up: only its checkpoint tells what is in the table. */
class Bench {
  readonly #clock = new StepClock();
  readonly #ids = new RandomIdSource(new SeededRandom(4));
  readonly store = new MemoryObjectStore({ name: 't', clock: this.#clock });

  async begin(policy: 'classic' | 'v2'): Promise<void> {
    const features = policy === 'v2' ? ['v2Checkpoint'] : [];
    const first = printActions([
      { kind: 'protocol', minReaderVersion: 3, minWriterVersion: 7, readerFeatures: features, writerFeatures: features },
      {
        kind: 'metaData',
        id: this.#ids.uuid(),
        formatProvider: 'parquet',
        formatOptions: {},
        schemaString: printSchemaString(schema),
        partitionColumns: [],
        configuration: { 'delta.checkpointPolicy': policy },
      },
      { kind: 'add', path: 'a', storedPath: 'a', partitionValues: {}, sizeBytes: 7, modifiedMs: 5, dataChange: true },
    ]);
    await this.store.putIfAbsent(commitPath(0), first);
    const snapshot = await this.load();
    if (snapshot === undefined) throw new TypeError('no log');
    await writeCheckpoint({ store: this.store, codec: parquetRows, ids: this.#ids }, snapshot, { nowMs: this.#clock.now() });
    await this.store.delete(commitPath(0));
  }

  load() {
    return loadSnapshot({ name: 't', store: this.store, codec: parquetRows });
  }

  async sidecar(): Promise<string> {
    for await (const { path } of this.store.list({ prefix: sidecarFolder })) return path;
    throw new TypeError('no sidecar');
  }

  /** The file with another one in its place that has these columns, and as many bytes where it can have. */
  async swap(path: string, columns: typeof schema, rows: readonly InputRow[], sizeBytes?: number): Promise<void> {
    const bytes = await parquetRows.write(columns, rows);
    await this.store.put(path, sizeBytes === undefined ? bytes : padded(bytes, sizeBytes));
  }
}

/** Bytes between the magic number and the footer belong to nobody: offsets of columns count from the start. */
function padded(bytes: Uint8Array, length: number): Uint8Array {
  const footerAt = bytes.length - 8 - new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true);
  return Buffer.concat([bytes.subarray(0, footerAt), new Uint8Array(length - bytes.length), bytes.subarray(footerAt)]);
}

describe('a checkpoint that the table cannot do without', () => {
  it('is refused with a data file in the place of its sidecar, by size and, at the same size, by its columns', async () => {
    const bench = new Bench();
    await bench.begin('v2');
    expect((await bench.load())?.fileCount).toBe(1);
    const path = await bench.sidecar();
    const { byteLength } = await bench.store.read(path);
    await bench.swap(path, schema, [{ id: 1n }]);
    await expect(bench.load()).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(new RegExp(`${path}: the file has \\d+ bytes, its checkpoint says ${byteLength}`)) as string,
    });
    await bench.swap(path, schema, [{ id: 1n }], byteLength);
    await expect(bench.load()).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`${path}: the file has no column "add", "remove"`) as string,
    });
  });

  it('is refused with a column missing or of another type', async () => {
    const bench = new Bench();
    await bench.begin('classic');
    expect((await bench.load())?.fileCount).toBe(1);
    await bench.swap(checkpointPath(0), noFiles, [{ protocol: { minReaderVersion: 1 }, id: 1n }]);
    await expect(bench.load()).rejects.toMatchObject({
      code: 'DELTA_TRUNCATED_TRANSACTION_LOG',
      message: expect.stringContaining(`${checkpointPath(0)}: the file has no column "metaData", "txn", "add", "remove"`) as string,
    });
    const names = ['protocol', 'metaData', 'txn', 'add', 'remove'];
    await bench.swap(checkpointPath(0), structOf(...names.map((name) => fieldOf(name, long))), [{ add: 1n }]);
    await expect(bench.load()).rejects.toMatchObject({
      message: expect.stringContaining(`${checkpointPath(0)}: "add" is not an object`) as string,
    });
  });
});
