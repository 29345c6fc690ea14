import type { Clock } from '../../../src/base/clock.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { createTable } from '../../../src/iceberg/definition/create-table.ts';
import type { ContentFile, ManifestEntry, ManifestFile, PartitionValue } from '../../../src/iceberg/metadata/content-file.ts';
import { tableFiles } from '../../../src/iceberg/open-table-files.ts';
import { FileSystemPointer } from '../../../src/iceberg/pointer/file-system-pointer.ts';
import type { TablePointer } from '../../../src/iceberg/pointer/table-pointer.ts';
import { entriesOf, manifestsOf } from '../../../src/iceberg/scan/manifests.ts';
import type { SnapshotState } from '../../../src/iceberg/snapshot-state.ts';
import { snapshotStateOf } from '../../../src/iceberg/snapshot-state-of.ts';
import type { TableContext } from '../../../src/iceberg/table-context.ts';
import type { SnapshotChange } from '../../../src/iceberg/transaction/snapshot-change.ts';
import type { Field } from '../../../src/schema/types.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import type { TableDefinition } from '../../../src/table/table.ts';
import { StepClock } from '../step-clock.ts';

export const memoryLocation = '/wh/db/t';

export function memoryStore(clock: Clock = new StepClock()): MemoryObjectStore {
  return new MemoryObjectStore({ name: 'lake', clock });
}

export interface MemoryTableOptions {
  readonly store?: ObjectStore | undefined;
  readonly clock?: Clock | undefined;
  readonly branch?: string | undefined;
  readonly seed?: number | undefined;
  /** Stands between the context and the table's own pointer. */
  readonly pointer?: ((own: TablePointer) => TablePointer) | undefined;
}

/** One writer of an Iceberg table that is kept in memory, without an engine. */
export function memoryContext(options: MemoryTableOptions = {}): TableContext {
  const store = options.store ?? memoryStore();
  const clock = options.clock ?? new StepClock();
  const random = new SeededRandom(options.seed ?? 1);
  const branch = options.branch ?? 'main';
  const files = tableFiles({ name: 'db.t', openStore: () => store, roots: () => [memoryLocation] });
  const own = new FileSystemPointer({ name: 'db.t', location: memoryLocation, files, clock });
  const pointer = options.pointer?.(own) ?? own;
  let state: SnapshotState | undefined;
  return {
    name: 'db.t',
    pointer,
    files,
    clock,
    random,
    ids: new RandomIdSource(random),
    failpoint: inertFailpoint,
    engine: () => Promise.reject(new Error('no engine here')),
    engineName: 'tidewater',
    engineVersion: '1.0.0',
    branch,
    refresh: async (signal) => {
      const loaded = await pointer.load(state?.loaded, signal);
      if (loaded === undefined) throw new Error('there is no table');
      state = snapshotStateOf(loaded, { branch });
      return state;
    },
    adopt: (newest) => {
      state = newest;
    },
  };
}

export const plainColumns: readonly Field[] = [
  { name: 'id', type: { kind: 'long' }, nullable: true },
  { name: 's', type: { kind: 'string' }, nullable: true },
];

export function definitionOf(parts: Partial<TableDefinition> = {}): TableDefinition {
  return { schema: { kind: 'struct', fields: plainColumns }, partitionColumns: [], properties: {}, ...parts };
}

/** Creates the table of a context. */
export async function created(context: TableContext, parts: Partial<TableDefinition> = {}): Promise<SnapshotState> {
  const { state } = await createTable(context, context.pointer, {
    name: 'db.t',
    location: memoryLocation,
    definition: definitionOf(parts),
    mode: 'create',
  });
  return state;
}

/** A data file that is not there: metadata does not ask. `ids`: least and greatest value of the first column. */
export function dataFile(
  name: string,
  parts: Partial<ContentFile> & { readonly ids?: readonly [number, number]; readonly partition?: readonly PartitionValue[] } = {},
): ContentFile {
  const { ids, ...rest } = parts;
  return {
    content: 'data',
    path: `${memoryLocation}/data/${name}.parquet`,
    format: 'parquet',
    specId: 0,
    partition: [],
    recordCount: 10,
    fileSizeBytes: 1_000,
    columnSizes: undefined,
    valueCounts: ids === undefined ? undefined : new Map([[1, 10]]),
    nullValueCounts: ids === undefined ? undefined : new Map([[1, 0]]),
    nanValueCounts: undefined,
    lowerBounds: ids === undefined ? undefined : new Map([[1, longBytes(ids[0])]]),
    upperBounds: ids === undefined ? undefined : new Map([[1, longBytes(ids[1])]]),
    keyMetadata: undefined,
    splitOffsets: undefined,
    equalityIds: undefined,
    sortOrderId: undefined,
    firstRowId: undefined,
    referencedDataFile: undefined,
    contentOffset: undefined,
    contentSizeBytes: undefined,
    ...rest,
  };
}

export function change(parts: Partial<SnapshotChange>): SnapshotChange {
  return { kind: 'append', added: [], addsKnownFiles: true, removed: [], validation: {}, summary: {}, ...parts };
}

/** Manifests of a state with their entries. */
export async function contentOf(
  context: TableContext,
  state: SnapshotState,
): Promise<readonly { readonly manifest: ManifestFile; readonly entries: readonly ManifestEntry[] }[]> {
  const manifests = await manifestsOf(context, state.metadata, state.snapshot);
  return await Promise.all(manifests.map(async (manifest) => ({ manifest, entries: await entriesOf(context, state.metadata, manifest) })));
}

/** Names of the live files, sorted. */
export async function liveNames(context: TableContext, state: SnapshotState): Promise<readonly string[]> {
  const content = await contentOf(context, state);
  const live = content.flatMap(({ entries }) => entries.filter(({ status }) => status !== 'deleted'));
  return live.map(({ file }) => file.path.slice(file.path.lastIndexOf('/') + 1).replace('.parquet', '')).toSorted();
}

/** All paths below the table, for what commits leave behind. */
export async function pathsBelow(context: TableContext): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const { location } of context.files.list(memoryLocation)) paths.push(location.slice(memoryLocation.length + 1));
  return paths.toSorted();
}

function longBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return new Uint8Array(bytes);
}
