import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { printActions } from '../../../../src/delta/action-json.ts';
import type { Action, MetadataAction, ProtocolAction } from '../../../../src/delta/actions.ts';
import { asDeltaSnapshot, commitInfoOf, type DeltaSnapshot } from '../../../../src/delta/delta-snapshot.ts';
import { DeltaTables } from '../../../../src/delta/delta-tables.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { readCommit } from '../../../../src/delta/log/read-commit.ts';
import type { OpenEngine } from '../../../../src/engine/engine.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../../../src/storage/object-store.ts';
import type { DefinitionChange } from '../../../../src/table/definition-changes.ts';
import type { QueryableTable, TableDefinition } from '../../../../src/table/table.ts';
import type { CreateRequest } from '../../../../src/table/table-formats.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { StepClock } from '../../../support/step-clock.ts';

export const long: DataType = { kind: 'long' };
export const text: DataType = { kind: 'string' };

export function fieldOf(name: string, type: DataType = long, more: Partial<Field> = {}): Field {
  return { name, type, nullable: true, ...more };
}

export function structOf(...fields: readonly Field[]): StructType {
  return { kind: 'struct', fields };
}

export function definitionOf(
  schema: StructType,
  properties: Record<string, string> = {},
  partitionColumns: readonly string[] = [],
): TableDefinition {
  return { schema, partitionColumns, properties };
}

/** One table in a store, and what its log says. */
export class DefinitionBench {
  readonly clock: StepClock = new StepClock();
  readonly ids: RandomIdSource = new RandomIdSource(new SeededRandom(1));
  readonly store: ObjectStore;
  readonly tables: DeltaTables;

  constructor(options: { readonly store?: ObjectStore; readonly engine?: OpenEngine } = {}) {
    const { clock, ids } = this;
    this.store = options.store ?? new MemoryObjectStore({ name: 't', clock });
    this.tables = new DeltaTables({
      clock,
      ids,
      random: new SeededRandom(3),
      version: '1.2.3',
      rewriter: { rewrite: () => Promise.reject(new TypeError('not used')) },
      engine: options.engine,
      openStore: () => this.store,
    });
  }

  async create(definition: TableDefinition, more: Partial<CreateRequest> = {}): Promise<QueryableTable> {
    const request: CreateRequest = { name: 't', location: 'memory://t', definition, mode: 'create', ...more };
    return (await this.tables.createTable(request)).table;
  }

  /** A table whose log is given. */
  async given(actions: readonly Action[]): Promise<QueryableTable> {
    await this.store.putIfAbsent(commitPath(0), printActions(actions));
    const table = await this.tables.open('t', 'memory://t');
    if (table === undefined) throw new TypeError('no table');
    return table;
  }

  /** Everything a version holds, `commitInfo` apart. */
  async commit(version: number): Promise<{ readonly info: Readonly<Record<string, unknown>>; readonly actions: readonly Action[] }> {
    const commit = await readCommit(this.store, toVersion(version));
    const actions = commit?.actions ?? [];
    return { info: commitInfoOf(actions)?.body ?? {}, actions: actions.filter((action) => action.kind !== 'commitInfo') };
  }
}

/** Alters, and gives what came of it. */
export async function altered(table: QueryableTable, change: DefinitionChange): Promise<DeltaSnapshot> {
  await table.operations.alter(change);
  return asDeltaSnapshot(await table.refresh());
}

export function metadataOf(actions: readonly Action[]): MetadataAction | undefined {
  return actions.find((action) => action.kind === 'metaData');
}

export function protocolOf(actions: readonly Action[]): ProtocolAction | undefined {
  return actions.find((action) => action.kind === 'protocol');
}
