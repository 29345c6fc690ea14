import type { Random } from '../../../src/base/random.ts';
import { randomInt } from '../../../src/base/random.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { IcebergTable } from '../../../src/iceberg/iceberg-table.ts';
import type { PartitionSpec } from '../../../src/iceberg/metadata/table-metadata.ts';
import { expireSnapshots } from '../../../src/iceberg/operations/expire/expire-snapshots.ts';
import { rollbackToSnapshot } from '../../../src/iceberg/operations/refs/move-main.ts';
import { rewriteDataFiles } from '../../../src/iceberg/operations/rewrite/rewrite-data-files.ts';
import { rewriteManifests } from '../../../src/iceberg/operations/rewrite/rewrite-manifests.ts';
import { rewritePositionDeletes } from '../../../src/iceberg/operations/rewrite/rewrite-position-deletes.ts';
import { liveFiles } from '../../../src/iceberg/scan/live-files.ts';
import type { SnapshotState } from '../../../src/iceberg/snapshot-state.ts';
import type { DefinitionChange } from '../../../src/table/definition-changes.ts';
import { applyTransform, resultType } from '../../../src/table/partitioning/apply-transform.ts';
import { type PartitionFieldDefinition, printTransform, type Transform } from '../../../src/table/partitioning/transform.ts';
import type { QueryableTable } from '../../../src/table/table.ts';
import { pick } from './model-conditions.ts';
import { columnStep, freeName, freshRows, mappedNames, type PlannedStep, rowStep, type Sequence, writeStep } from './model-steps.ts';
import {
  batchOf,
  idKey,
  type ModelColumn,
  type ModelMember,
  type ModelRow,
  type ModelState,
  type ModelType,
  membersOf,
  typeOf,
} from './model-table.ts';

export const icebergStepKinds = [
  'append',
  'append',
  'append',
  'append-evolving',
  'overwrite',
  'replace-where',
  'replace-partitions',
  'truncate',
  'update',
  'update',
  'delete',
  'delete',
  'merge',
  'merge',
  'rewrite-data',
  'rewrite-data',
  'rewrite-manifests',
  'rewrite-deletes',
  'expire',
  'rollback',
  'tag',
  'add-column',
  'rename-column',
  'drop-column',
  'widen',
  'move-column',
  'add-member',
  'rename-member',
  'drop-member',
  'widen-member',
  'add-partition',
  'add-partition',
  'drop-partition',
  'replace-partition',
  'modes',
  'format',
  'upgrade',
] as const;
export type IcebergStepKind = (typeof icebergStepKinds)[number];

export interface IcebergStep {
  readonly kind: IcebergStepKind;
  readonly seed: number;
}

export interface PlannedIcebergStep extends PlannedStep {
  /** Errors that leave the table as it is: the step was not taken. */
  readonly mayRefuse?: RegExp | undefined;
  /** Rows keep their ids and the versions that changed them. */
  readonly keepsRows?: boolean | undefined;
}

export interface IcebergSequence extends Sequence {
  /** By snapshot. */
  readonly snapshots: ReadonlyMap<bigint, ModelState>;
}

const refusals = {
  definition: /ICEBERG_DEFINITION_REFUSED|Cannot find source column for partition field/,
  files: /some, but not all, rows match filter/,
} as const;

export async function planIcebergStep(
  { kind, seed }: IcebergStep,
  sequence: IcebergSequence,
  table: IcebergTable,
): Promise<PlannedIcebergStep | undefined> {
  const random = new SeededRandom(seed);
  const state = sequence.states.at(-1);
  if (state === undefined) return undefined;
  const view = await table.refresh();
  switch (kind) {
    case 'append':
    case 'overwrite':
    case 'append-evolving':
      return writeStep(kind, random, sequence, state);
    case 'replace-where':
      return { ...writeStep(kind, random, sequence, state), mayRefuse: refusals.files };
    case 'replace-partitions':
      return replacePartitionsStep(random, sequence, state, { table, view });
    case 'truncate':
      return { text: kind, state: { ...state, rows: [] }, run: (handle) => handle.operations.truncate() };
    case 'update':
    case 'delete':
    case 'merge':
      return rowStep(kind, random, sequence, state);
    case 'rewrite-data':
    case 'rewrite-manifests':
    case 'rewrite-deletes':
      return rewriteStep(kind, random, state);
    case 'expire':
    case 'rollback':
    case 'tag':
      return snapshotStep(kind, random, sequence, state, view);
    case 'modes':
    case 'format':
    case 'upgrade':
      return propertyStep(kind, random, state, view);
    case 'add-partition':
    case 'drop-partition':
    case 'replace-partition':
      return partitionStep(kind, random, state, view);
    case 'add-member':
    case 'rename-member':
    case 'drop-member':
    case 'widen-member':
      return memberStep(kind, random, sequence, state);
    default: {
      const planned = columnStep(kind, random, sequence, state, true);
      return planned === undefined ? undefined : { ...planned, mayRefuse: refusals.definition };
    }
  }
}

/** Iceberg's own operations are on its own kind of table. */
function icebergOf(table: QueryableTable): IcebergTable {
  if (table instanceof IcebergTable) return table;
  throw new TypeError('the steps are for Iceberg tables');
}

/** Only where all files are of the newest spec: others stay whatever their rows. */
async function replacePartitionsStep(
  random: Random,
  sequence: IcebergSequence,
  state: ModelState,
  { table, view }: { readonly table: IcebergTable; readonly view: SnapshotState },
): Promise<PlannedIcebergStep | undefined> {
  const { data } = await liveFiles(table.context, view);
  const { defaultSpecId, partitionSpecs } = view.metadata;
  const spec = partitionSpecs.find(({ specId }) => specId === defaultSpecId);
  if (spec === undefined || data.some(({ entry }) => entry.file.specId !== defaultSpecId)) return undefined;
  const tupleOf = partitionOf(spec, view, state.columns);
  if (tupleOf === undefined) return undefined;
  const fresh = freshRows(random, sequence, state.columns);
  const replaced = new Set(fresh.map(tupleOf));
  return {
    text: 'replace partitions',
    state: { ...state, rows: [...state.rows.filter((row) => !replaced.has(tupleOf(row))), ...fresh] },
    run: (handle) =>
      sequence.tables.withRows(batchOf({ columns: state.columns, rows: fresh }), (rows) =>
        handle.operations.write({ rows, mode: { kind: 'overwrite-partitions' } }),
      ),
  };
}

/** The partition of a row as text; `undefined` for a spec by floating point numbers, whose zeros are two values, or by members. */
function partitionOf(
  spec: PartitionSpec,
  { schema }: SnapshotState,
  columns: readonly ModelColumn[],
): ((row: ModelRow) => string) | undefined {
  const fields = spec.fields.flatMap(({ sourceId, transform }) => {
    if (transform.kind === 'void') return [];
    const name = schema.fields.find(({ id }) => id === sourceId)?.name;
    return [{ transform, column: columns.find((column) => column.name === name) }];
  });
  if (fields.some(({ column }) => column === undefined || column.type === 'double')) return undefined;
  return (row) =>
    fields
      .map(({ transform, column }) => {
        if (column === undefined) return '';
        const value = row.get(column.key) ?? undefined;
        const given = typeof value === 'object' ? undefined : typeof value === 'number' && column.type !== 'int' ? BigInt(value) : value;
        const result = applyTransform(transform, typeOf(column), given);
        return result === undefined ? 'null' : `"${String(result)}"`;
      })
      .join();
}

function rewriteStep(
  kind: 'rewrite-data' | 'rewrite-manifests' | 'rewrite-deletes',
  random: Random,
  state: ModelState,
): PlannedIcebergStep {
  const options = new Map([
    [pick(random, ['rewrite-all', 'min-input-files']), '2'],
    ...(kind === 'rewrite-data' && random.next() < 0.5 ? [['delete-file-threshold', '1'] as const] : []),
    ...(kind === 'rewrite-data' && random.next() < 0.3 ? [['remove-dangling-deletes', 'true'] as const] : []),
  ]);
  if (options.has('rewrite-all')) options.set('rewrite-all', 'true');
  const sortable = state.columns.filter(({ type }) => type !== 'struct');
  const quoted = `\`${pick(random, sortable).name.replaceAll('`', '``')}\``;
  const order = pick(random, ['', '', `${quoted} DESC NULLS LAST`, `zorder(${quoted})`]);
  const sortOrder = order === '' ? undefined : order;
  return {
    text: `${kind} ${JSON.stringify([...options])} ${kind === 'rewrite-data' ? order : ''}`,
    state,
    keepsRows: true,
    run: (handle) => {
      const { context } = icebergOf(handle);
      if (kind === 'rewrite-manifests') return rewriteManifests(context);
      return kind === 'rewrite-deletes' ? rewritePositionDeletes(context, { options }) : rewriteDataFiles(context, { options, sortOrder });
    },
  };
}

function snapshotStep(
  kind: 'expire' | 'rollback' | 'tag',
  random: Random,
  { snapshots }: IcebergSequence,
  state: ModelState,
  { metadata }: SnapshotState,
): PlannedIcebergStep | undefined {
  if (kind === 'expire') {
    const retainLast = 1 + randomInt(random, 4);
    const cleanExpiredMetadata = random.next() < 0.5;
    return {
      text: `expire all but ${retainLast}`,
      state,
      keepsRows: true,
      run: (handle) => expireSnapshots(icebergOf(handle).context, { olderThanMs: Date.now() + 1_000, retainLast, cleanExpiredMetadata }),
    };
  }
  const present = metadata.snapshots.filter(({ snapshotId }) => snapshots.has(snapshotId));
  if (present.length === 0) return undefined;
  const { snapshotId } = pick(random, present);
  if (kind === 'tag') {
    const change: DefinitionChange = {
      kind: 'create-ref',
      ref: 'tag',
      name: `t${metadata.refs.size}`,
      mode: 'create-if-absent',
      snapshotId,
    };
    return { text: `tag ${snapshotId}`, state, keepsRows: true, run: (handle) => handle.operations.alter(change) };
  }
  const ancestors = new Set<bigint>();
  for (let id = metadata.currentSnapshotId; id !== undefined && !ancestors.has(id); ) {
    ancestors.add(id);
    const at: bigint = id;
    id = metadata.snapshots.find((snapshot) => snapshot.snapshotId === at)?.parentSnapshotId;
  }
  const before = snapshots.get(snapshotId);
  if (before === undefined || !ancestors.has(snapshotId)) return undefined;
  return {
    text: `roll back to ${snapshotId}`,
    state: { ...state, rows: before.rows },
    run: (handle) => rollbackToSnapshot(icebergOf(handle).context, snapshotId),
  };
}

function propertyStep(
  kind: 'modes' | 'format' | 'upgrade',
  random: Random,
  state: ModelState,
  { metadata }: SnapshotState,
): PlannedIcebergStep | undefined {
  if (kind === 'upgrade' && metadata.formatVersion === 3) return undefined;
  const mode = (): string => pick(random, ['copy-on-write', 'merge-on-read', 'merge-on-read']);
  const properties: Readonly<Record<string, string>> = {
    modes: { 'write.delete.mode': mode(), 'write.update.mode': mode(), 'write.merge.mode': mode() },
    format: {
      'write.format.default': pick(random, ['parquet', 'avro', 'orc']),
      'write.delete.format.default': pick(random, ['parquet', 'avro', 'orc']),
    },
    upgrade: { 'format-version': String(metadata.formatVersion + 1) },
  }[kind];
  return {
    text: `set ${JSON.stringify(properties)}`,
    state,
    run: (handle) => handle.operations.alter({ kind: 'set-properties', properties }),
  };
}

const transforms: readonly Transform[] = [
  { kind: 'identity' },
  { kind: 'bucket', count: 3 },
  { kind: 'bucket', count: 16 },
  { kind: 'truncate', width: 2 },
  { kind: 'truncate', width: 10 },
  { kind: 'year' },
  { kind: 'month' },
  { kind: 'day' },
  { kind: 'hour' },
];

/** A transform over a column, or over a member of one. */
export function randomPartitionField(random: Random, columns: readonly ModelColumn[]): PartitionFieldDefinition | undefined {
  const column = pick(random, columns);
  const member = column.type === 'struct' ? pick(random, membersOf(column)) : undefined;
  const fitting = transforms.filter((transform) => resultType(transform, typeOf(member ?? column)) !== undefined);
  if (fitting.length === 0) return undefined;
  return { source: [column.name, ...(member === undefined ? [] : [member.name])], transform: pick(random, fitting) };
}

function partitionStep(
  kind: 'add-partition' | 'drop-partition' | 'replace-partition',
  random: Random,
  state: ModelState,
  { metadata }: SnapshotState,
): PlannedIcebergStep | undefined {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  const present = (spec?.fields ?? []).filter(({ transform }) => transform.kind !== 'void');
  const by = randomPartitionField(random, state.columns);
  if (by === undefined || (kind === 'add-partition' ? present.length >= 3 : present.length === 0)) return undefined;
  const dropped = kind === 'add-partition' ? undefined : { name: pick(random, present).name };
  const change: DefinitionChange =
    dropped === undefined
      ? { kind: 'add-partition-field', field: by }
      : kind === 'drop-partition'
        ? { kind: 'drop-partition-field', field: dropped }
        : { kind: 'replace-partition-field', field: dropped, by };
  return {
    text: `${kind} ${dropped?.name ?? ''} ${printTransform(by.transform)} of ${by.source.join('.')}`,
    state,
    keepsRows: true,
    mayRefuse: refusals.definition,
    run: (handle) => handle.operations.alter(change),
  };
}

function memberStep(
  kind: 'add-member' | 'rename-member' | 'drop-member' | 'widen-member',
  random: Random,
  sequence: IcebergSequence,
  state: ModelState,
): PlannedIcebergStep | undefined {
  const structs = state.columns.filter(({ type, key }) => type === 'struct' && key !== idKey);
  if (structs.length === 0) return undefined;
  const column = pick(random, structs);
  const members = membersOf(column);
  const free = freeName(
    random,
    { columns: members.map((member) => ({ key: 0, name: member.name, type: member.type })), rows: [] },
    mappedNames,
  );
  const member = pick(random, members);
  const path = [column.name, member.name];
  const altered = (changed: readonly ModelMember[], change: DefinitionChange): PlannedIcebergStep => ({
    text: `${kind} ${path.join('.')} ${free}`,
    state: { ...state, columns: state.columns.map((other) => (other === column ? { ...column, members: changed } : other)) },
    mayRefuse: refusals.definition,
    run: (handle) => handle.operations.alter(change),
  });
  switch (kind) {
    case 'add-member': {
      if (free === undefined) return undefined;
      const type = pick<Exclude<ModelType, 'struct'>>(random, ['int', 'double', 'string', 'timestamp']);
      const added: ModelMember = { key: `m${sequence.nextKey++}`, name: free, type };
      const columns = [{ parent: [column.name], field: { name: free, type: typeOf({ type }), nullable: true } }];
      return altered([...members, added], { kind: 'add-columns', columns });
    }
    case 'rename-member':
      if (free === undefined) return undefined;
      return altered(
        members.map((other) => (other === member ? { ...member, name: free } : other)),
        { kind: 'rename-column', path, to: free },
      );
    case 'drop-member':
      if (members.length < 2) return undefined;
      return altered(
        members.filter((other) => other !== member),
        { kind: 'drop-columns', paths: [path] },
      );
    case 'widen-member':
      if (member.type !== 'int') return undefined;
      return altered(
        members.map((other) => (other === member ? { ...member, type: 'long' } : other)),
        { kind: 'change-type', path, type: { kind: 'long' } },
      );
  }
}
