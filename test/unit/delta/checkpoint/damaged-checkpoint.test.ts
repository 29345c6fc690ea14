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
import type { DataType, Field } from '../../../../src/schema/types.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { standIn, withTwin } from '../../../support/fuzz/twin-column.ts';
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

  it('is refused where a file lacks what every file has, or has it as bytes, or a column twice', async () => {
    const text: DataType = { kind: 'string' };
    const state = (row: InputRow): readonly InputRow[] => [
      { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
      { metaData: { id: 'x', schemaString: printSchemaString(schema) } },
      { add: { path: 'a', size: 7n, modificationTime: 5n, ...row } },
    ];
    const columnsWith = (...extra: readonly Field[]) =>
      structOf(
        fieldOf('protocol', structOf(fieldOf('minReaderVersion', { kind: 'integer' }), fieldOf('minWriterVersion', { kind: 'integer' }))),
        fieldOf('metaData', structOf(fieldOf('id', text), fieldOf('schemaString', text))),
        fieldOf('txn', structOf(fieldOf('appId', text))),
        fieldOf('remove', structOf(fieldOf('path', text))),
        fieldOf('add', structOf(fieldOf('path', text), fieldOf('size'), fieldOf('modificationTime'), ...extra)),
      );
    const values = fieldOf('partitionValues', { kind: 'map', key: text, value: text, valueNullable: true });
    const bench = new Bench();
    await bench.begin('classic');
    await bench.swap(checkpointPath(0), columnsWith(values), state({ partitionValues: {} }));
    expect((await bench.load())?.fileCount).toBe(1);
    await bench.swap(checkpointPath(0), columnsWith(values), state({}));
    await expect(bench.load()).rejects.toMatchObject({
      message: expect.stringContaining(`${checkpointPath(0)}: add: "partitionValues" is missing or not an object`) as string,
    });
    const vector = fieldOf('deletionVector', { kind: 'binary' });
    await bench.swap(checkpointPath(0), columnsWith(values, vector), state({ partitionValues: {}, deletionVector: new Uint8Array([1]) }));
    await expect(bench.load()).rejects.toMatchObject({
      message: expect.stringContaining(`${checkpointPath(0)}: add: "deletionVector" is missing or not an object`) as string,
    });
    const twice = columnsWith(values);
    const { store } = bench;
    await bench.swap(
      checkpointPath(0),
      structOf(fieldOf(standIn('add'), twice.fields.at(-1)?.type), ...twice.fields),
      state({ partitionValues: {} }),
    );
    await store.put(checkpointPath(0), withTwin(await store.read(checkpointPath(0)), 'add'));
    await expect(bench.load()).rejects.toMatchObject({
      message: expect.stringContaining(
        `${checkpointPath(0)}: the file cannot be read as a checkpoint: column "add" is there twice`,
      ) as string,
    });
  });
});
