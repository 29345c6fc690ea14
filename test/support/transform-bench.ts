import { decodeSpecOf } from '../../src/app/drift-watch.ts';
import { InThreadBatchStager } from '../../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { inertFailpoint } from '../../src/base/failpoint.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { readParquet } from '../../src/codec/parquet/read-parquet.ts';
import { type PlainRow, rowsOf } from '../../src/codec/rows.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { OpenEngine } from '../../src/engine/engine.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import type { PackedRecordBatch, StageResult, StageTask } from '../../src/protocol/sealed-batch.ts';
import { MemoryObjectStore } from '../../src/storage/memory-object-store.ts';

export interface BenchRecord {
  readonly key?: string | undefined;
  /** An object is printed as JSON. */
  readonly value: object | string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Transformed extends StageResult {
  readonly rows: readonly PlainRow[];
}

/** `route`: YAML of the route beside `topics` and `table`. `columns`: of the table, one in a line of YAML each. */
export interface BenchTable {
  readonly columns: readonly string[];
  readonly route: string;
  /** Of the table beside its columns. */
  readonly table?: string | undefined;
}

/** The configuration of one table `t` and its route. */
export function benchYaml({ columns, route, table = '' }: BenchTable): string {
  const indented = (text: string, by: string): string =>
    text
      .split('\n')
      .map((line) => `${by}${line}`)
      .join('\n');
  return `pipeline: p
tables:
  - name: t
    columns:
${columns.map((column) => `      - { ${column} }`).join('\n')}
${indented(table, '    ')}
ingest:
  routes:
    - topics: [events]
      table: t
${indented(route.trimEnd(), '      ')}
`;
}

/** What a route makes of records: by the configuration, the decoder, the transform and the file writer as they are. */
export async function transformed(
  bench: BenchTable,
  batches: readonly (readonly BenchRecord[])[],
  openEngine: OpenEngine,
  limits: { readonly maxDecodedBytes?: number } = {},
): Promise<Transformed> {
  const { config } = loadConfig({ files: ['a.yaml'], env: {}, workingDir: '/work', readText: () => benchYaml(bench) });
  const [settings] = config.tables;
  const [route] = config.ingest.routes;
  if (settings === undefined || route === undefined) throw new Error('the configuration has a table and its route');
  const clock = new SystemClock();
  const store = new MemoryObjectStore({ name: 't', clock });
  const stager = new InThreadBatchStager({
    openStore: () => store,
    clock,
    failpoint: inertFailpoint,
    maxNestingDepth: 16,
    openEngine,
    ...limits,
  });
  const write = {
    location: 'memory://t',
    schema: settings.definition.schema,
    partitionColumns: settings.definition.partitionColumns,
    partitionColumnsInFile: true,
    compression: 'zstd',
    partitionPathStyle: 'hive-delta',
    statisticsColumns: 32,
  } as const;
  const task = { batch: sealed(batches), write, decode: decodeSpecOf(settings, route, write), fileNameStem: 'stem' };
  const result = await stager.stage(task).finally(() => {
    stager.close();
  });
  const rows: PlainRow[] = [];
  for (const { path } of result.files) {
    const bytes = await store.read(path);
    rows.push(...rowsOf((await readParquet(bytes)).batches));
  }
  return { ...result, rows };
}

function sealed(batches: readonly (readonly BenchRecord[])[]): StageTask['batch'] {
  const recordBatches: PackedRecordBatch[] = [];
  const parts: Uint8Array[] = [];
  let end = 0;
  let offset = 0;
  for (const records of batches) {
    const encoded = encodeRecordBatch({
      topic: 'events',
      partition: 2,
      compression: 'gzip',
      records: records.map(({ key, value, headers = {} }, index) => ({
        key: key === undefined ? undefined : Buffer.from(key),
        value: value === null ? undefined : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
        timestampMs: toEpochMs(1_767_225_600_000 + offset + index),
        headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const),
      })),
    });
    // The broker writes the offset of a batch into its head.
    new DataView(encoded.bytes.buffer, encoded.bytes.byteOffset).setBigInt64(0, BigInt(offset));
    recordBatches.push({ topic: 'events', partition: 2, start: end, end: end + encoded.bytes.length, fromOffset: BigInt(offset) });
    parts.push(encoded.bytes);
    end += encoded.bytes.length;
    offset += records.length;
  }
  return {
    table: 't',
    sequence: 0,
    bytes: new Uint8Array(Buffer.concat(parts)).buffer,
    recordBatches,
    ranges: [{ topic: 'events', partition: 2, from: 0n, until: BigInt(offset), writerId: 'p:events:2:c:t', expectedMark: undefined }],
    recordCount: offset,
    maxTimestampMs: 0,
    sealedBy: 'rows',
    openedAtMs: 0,
  };
}
