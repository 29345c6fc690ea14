import { join } from 'node:path';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import type { PartitionSpec, SortOrder, TableMetadata } from '../../../src/iceberg/metadata/table-metadata.ts';
import { tableFiles } from '../../../src/iceberg/open-table-files.ts';
import type { SnapshotState } from '../../../src/iceberg/snapshot-state.ts';
import { snapshotStateOf } from '../../../src/iceberg/snapshot-state-of.ts';
import type { TableContext } from '../../../src/iceberg/table-context.ts';
import type { StructType } from '../../../src/schema/types.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import { StepClock } from '../step-clock.ts';
import type { TestEngine } from '../test-engine.ts';

/** Metadata of a table without snapshots, for what only writes files. */
export interface StagedTable {
  readonly context: TableContext;
  readonly state: SnapshotState;
  readonly made: TestEngine;
}

export interface StagedTableOptions {
  readonly schema: StructType;
  readonly spec?: PartitionSpec['fields'] | undefined;
  readonly sortOrder?: SortOrder['fields'] | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  readonly formatVersion?: 1 | 2 | 3 | undefined;
}

let tables = 0;

/** A table in a directory of its own within the engine's. */
export function stagedTable(made: TestEngine, options: StagedTableOptions): StagedTable {
  tables += 1;
  const location = join(made.directory, `table-${tables}`);
  const metadata = metadataOf(location, options);
  const random = new SystemRandom();
  const unused = (): never => {
    throw new Error('only files are written');
  };
  const state = snapshotStateOf({ metadata, metadataLocation: undefined }, { branch: 'main' });
  const context: TableContext = {
    name: 'db.t',
    pointer: { name: 'db.t', singleWriterOnly: undefined, ownPlaces: unused, load: unused, swap: unused },
    files: tableFiles({ name: 'db.t', openStore: openObjectStore, roots: () => [location] }),
    clock: new StepClock(),
    random,
    ids: new RandomIdSource(random),
    failpoint: inertFailpoint,
    engine: () => Promise.resolve(made.engine),
    engineName: 'tidewater',
    engineVersion: '1.0.0',
    branch: 'main',
    refresh: () => Promise.resolve(state),
    adopt: unused,
  };
  return { context, state, made };
}

function metadataOf(location: string, options: StagedTableOptions): TableMetadata {
  const { schema, spec = [], sortOrder = [], properties = {}, formatVersion = 2 } = options;
  return {
    formatVersion,
    tableUuid: '00000000-0000-4000-8000-000000000001',
    location,
    lastSequenceNumber: 0n,
    lastUpdatedMs: 0,
    lastColumnId: 100,
    schemas: [{ schemaId: 0, struct: schema, identifierFieldIds: [] }],
    currentSchemaId: 0,
    partitionSpecs: [{ specId: 0, fields: spec }],
    defaultSpecId: 0,
    lastPartitionId: 999 + spec.length,
    sortOrders: [
      { orderId: 0, fields: [] },
      { orderId: 1, fields: sortOrder },
    ],
    defaultSortOrderId: 0,
    properties,
    currentSnapshotId: undefined,
    refs: new Map(),
    snapshots: [],
    snapshotLog: [],
    metadataLog: [],
    statistics: [],
    partitionStatistics: [],
    nextRowId: 0n,
    unknown: {},
  };
}
