import { type Random, randomInt } from '../../../src/base/random.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { DeltaTable } from '../../../src/delta/delta-table.ts';
import type { Expression } from '../../../src/expr/expression.ts';
import type { DefinitionChange } from '../../../src/table/definition-changes.ts';
import type { Assignment, MergeClause } from '../../../src/table/row-operations.ts';
import type { QueryableTable } from '../../../src/table/table.ts';
import { toVersion } from '../../../src/table/version.ts';
import { columnOf, literalOf, type ModelCondition, memberOf, pick, randomCondition, randomValue } from './model-conditions.ts';
import {
  batchOf,
  idKey,
  idOf,
  type ModelColumn,
  type ModelRow,
  type ModelState,
  type ModelStruct,
  type ModelType,
  type ModelValue,
  membersOf,
  typeOf,
} from './model-table.ts';
import type { PropertyTables } from './property-tables.ts';

export const stepKinds = [
  'append',
  'append',
  'append-evolving',
  'overwrite',
  'replace-where',
  'update',
  'update',
  'delete',
  'delete',
  'merge',
  'merge',
  'optimize',
  'z-order',
  'purge',
  'restore',
  'add-column',
  'rename-column',
  'drop-column',
  'widen',
  'move-column',
  'vectors',
  'feed',
  'mapping',
  'checkpoint',
] as const;
export type StepKind = (typeof stepKinds)[number];

/** What to do, and the seed that decides on the particulars once the state is known: shrinks well. */
export interface Step {
  readonly kind: StepKind;
  readonly seed: number;
}

/** Where a sequence of steps stands. */
export interface Sequence {
  readonly tables: Pick<PropertyTables, 'withRows'>;
  /** By version. */
  readonly states: readonly ModelState[];
  readonly partition: number | undefined;
  /** Keys and ids below these were given. */
  nextKey: number;
  nextId: number;
}

/** A step's effect on the model, and how the table is told; `undefined`: the step cannot be taken in this state. */
export interface PlannedStep {
  readonly text: string;
  readonly state: ModelState;
  run(table: QueryableTable): Promise<unknown>;
}

const names = ['Größe', '日本', 'e\u0301', '\u{1f4a7}', 'a.b', 'select', 'x"y', '__proto__', 'q%25'];
export const mappedNames: readonly string[] = [...names, ' ', 'a b', 'k=v', '{};,'];

export async function planStep({ kind, seed }: Step, sequence: Sequence, table: DeltaTable): Promise<PlannedStep | undefined> {
  const random = new SeededRandom(seed);
  const state = sequence.states.at(-1);
  if (state === undefined) return undefined;
  switch (kind) {
    case 'append':
    case 'overwrite':
    case 'append-evolving':
    case 'replace-where':
      return writeStep(kind, random, sequence, state);
    case 'update':
    case 'delete':
    case 'merge':
      return rowStep(kind, random, sequence, state);
    case 'optimize':
    case 'z-order':
    case 'purge':
    case 'checkpoint':
      return layoutStep(kind, random, sequence, state);
    case 'restore':
      return restoreStep(random, sequence);
    case 'vectors':
    case 'feed':
    case 'mapping':
      return propertyStep(kind, random, state, (await table.refresh()).mapping);
    default:
      return columnStep(kind, random, sequence, state, (await table.refresh()).mapping !== 'none');
  }
}

export function freshRows(
  random: Random,
  sequence: Sequence,
  columns: readonly ModelColumn[],
  ids?: readonly number[],
): readonly ModelRow[] {
  return Array.from({ length: ids?.length ?? 1 + randomInt(random, 6) }, (_, index) => {
    const id = ids?.[index] ?? sequence.nextId++;
    return new Map<number, ModelValue>(
      columns.map((column) => [
        column.key,
        column.key === idKey ? id : storable(randomValue(random, column), column.key === sequence.partition),
      ]),
    );
  });
}

/** An empty text is null in a partition. */
function storable(value: ModelValue, partition: boolean): ModelValue {
  return partition && value === '' ? null : value;
}

export function writeStep(
  kind: 'append' | 'overwrite' | 'append-evolving' | 'replace-where',
  random: Random,
  sequence: Sequence,
  state: ModelState,
): PlannedStep {
  const added = kind === 'append-evolving' ? randomColumn(random, sequence, state, names) : undefined;
  const columns = added === undefined ? state.columns : [...state.columns, added];
  const condition = kind === 'replace-where' ? randomCondition(random, state, { depth: 1 }) : undefined;
  const candidates = freshRows(random, sequence, columns);
  const fresh = condition === undefined ? candidates : candidates.filter((row) => condition.holds(row) === true);
  const kept = kind === 'overwrite' ? [] : condition === undefined ? state.rows : state.rows.filter((row) => condition.holds(row) !== true);
  const mode = kind === 'overwrite' || condition !== undefined ? 'overwrite' : 'append';
  return {
    text: `${kind} ${textOf(condition)}`,
    state: { columns, rows: [...kept, ...fresh] },
    run: (table) =>
      sequence.tables.withRows(batchOf({ columns, rows: fresh }), (rows) =>
        table.operations.write({
          rows,
          mode: mode === 'append' ? { kind: mode } : { kind: mode, replaceWhere: condition?.expression },
          mergeSchema: added !== undefined,
        }),
      ),
  };
}

interface ModelAssignment {
  readonly assignment: Assignment;
  of(row: ModelRow): readonly [key: number, value: ModelValue];
}

/** New values for one or two columns: a constant, another column of the type, or a member of a struct. */
function randomAssignments(random: Random, sequence: Sequence, { columns }: ModelState, alias: string): readonly ModelAssignment[] {
  const possible = columns.filter(({ key }) => key !== idKey);
  if (possible.length === 0) return [];
  const chosen = new Set([pick(random, possible), pick(random, possible)]);
  return [...chosen].map((column): ModelAssignment => {
    const isPartition = column.key === sequence.partition;
    if (column.type === 'struct' && random.next() < 0.7) {
      const assigned = pick(random, membersOf(column));
      const fresh = randomValue(random, assigned);
      return {
        assignment: { target: [column.name, assigned.name], value: literalOf(assigned.type, fresh) },
        of: (row) => {
          const before = row.get(column.key) ?? null;
          const members = membersOf(column).map(({ key }) => [
            key,
            memberOf(key === assigned.key ? { [key]: scalarOf(fresh) } : before, key),
          ]);
          return [column.key, Object.fromEntries(members) as ModelStruct];
        },
      };
    }
    const other = pick(
      random,
      columns.filter(
        (candidate) => candidate.type === column.type && JSON.stringify(membersOf(candidate)) === JSON.stringify(membersOf(column)),
      ),
    );
    if (random.next() < 0.3) {
      return {
        assignment: { target: [column.name], value: columnOf(other, alias) },
        of: (row) => [column.key, storable(row.get(other.key) ?? null, isPartition)],
      };
    }
    const value = column.type === 'struct' ? null : randomValue(random, column);
    return {
      assignment: { target: [column.name], value: literalOf(column.type, value) },
      of: () => [column.key, storable(value, isPartition)],
    };
  });
}

function assigned(row: ModelRow, assignments: readonly ModelAssignment[]): ModelRow {
  return new Map([...row, ...assignments.map((assignment) => assignment.of(row))]);
}

export function rowStep(
  kind: 'update' | 'delete' | 'merge',
  random: Random,
  sequence: Sequence,
  state: ModelState,
): PlannedStep | undefined {
  const condition = random.next() < 0.1 ? undefined : randomCondition(random, state, { alias: 't' });
  const matches = (row: ModelRow): boolean => condition === undefined || condition.holds(row) === true;
  if (kind === 'delete') {
    return {
      text: `delete ${textOf(condition)}`,
      state: { ...state, rows: state.rows.filter((row) => !matches(row)) },
      run: (table) => table.operations.delete({ condition: condition?.expression, alias: 't' }),
    };
  }
  const changes = randomAssignments(random, sequence, state, 't');
  if (changes.length === 0) return undefined;
  const assignments = changes.map(({ assignment }) => assignment);
  if (kind === 'update') {
    return {
      text: `update ${JSON.stringify(assignments, printable)} ${textOf(condition)}`,
      state: { ...state, rows: state.rows.map((row) => (matches(row) ? assigned(row, changes) : row)) },
      run: (table) => table.operations.update({ condition: condition?.expression, assignments, alias: 't' }),
    };
  }
  return mergeStep(random, sequence, state, { condition, changes });
}

/** Source rows with ids of the table and with others; the table's ids are unique, so no row is wanted twice. */
function mergeStep(
  random: Random,
  sequence: Sequence,
  state: ModelState,
  { condition, changes }: { readonly condition: ModelCondition | undefined; readonly changes: readonly ModelAssignment[] },
): PlannedStep {
  const present = state.rows.map(idOf).filter(() => random.next() < 0.4);
  const source = freshRows(random, sequence, state.columns, [...present, sequence.nextId++, sequence.nextId++]);
  const byId = new Map(source.map((row) => [idOf(row), row]));
  const matched = pick(random, ['all', 'assigned', 'deleted', 'none'] as const);
  const inserts = random.next() < 0.7;
  const orphans = pick(random, ['deleted', 'assigned', 'none', 'none'] as const);
  const when = condition === undefined ? {} : { condition: condition.expression };
  const assignments = changes.map(({ assignment }) => assignment);
  const clauses: MergeClause[] = [
    ...(matched === 'all' ? [{ on: 'matched', action: 'update', assignments: 'all', ...when } as const] : []),
    ...(matched === 'assigned' ? [{ on: 'matched', action: 'update', assignments, ...when } as const] : []),
    ...(matched === 'deleted' ? [{ on: 'matched', action: 'delete', ...when } as const] : []),
    ...(inserts || (matched === 'none' && orphans === 'none') ? [{ on: 'not-matched', action: 'insert', values: 'all' } as const] : []),
    ...(orphans === 'deleted' ? [{ on: 'not-matched-by-source', action: 'delete', ...when } as const] : []),
    ...(orphans === 'assigned' ? [{ on: 'not-matched-by-source', action: 'update', assignments, ...when } as const] : []),
  ];
  const result = (row: ModelRow): readonly ModelRow[] => {
    const match = byId.get(idOf(row));
    const action = condition !== undefined && condition.holds(row) !== true ? 'none' : match === undefined ? orphans : matched;
    if (action === 'deleted') return [];
    if (action === 'all') return [match ?? row];
    return [action === 'assigned' ? assigned(row, changes) : row];
  };
  const known = new Set(state.rows.map(idOf));
  const inserted = clauses.some(({ on }) => on === 'not-matched') ? source.filter((row) => !known.has(idOf(row))) : [];
  const idName = state.columns.find(({ key }) => key === idKey)?.name ?? '';
  const on: Expression = {
    kind: 'binary',
    operator: '=',
    left: { kind: 'column', path: ['t', idName] },
    right: { kind: 'column', path: ['s', idName] },
  };
  return {
    text: `merge ${JSON.stringify(clauses, printable)} from ${JSON.stringify(source.map((row) => [...row]))}`,
    state: { ...state, rows: [...state.rows.flatMap(result), ...inserted] },
    run: (table) =>
      sequence.tables.withRows(batchOf({ columns: state.columns, rows: source }), (rows) =>
        table.operations.merge({ source: rows, targetAlias: 't', sourceAlias: 's', condition: on, clauses }),
      ),
  };
}

function layoutStep(
  kind: 'optimize' | 'z-order' | 'purge' | 'checkpoint',
  random: Random,
  sequence: Sequence,
  state: ModelState,
): PlannedStep {
  const sortable = state.columns.filter(({ key, type }) => key !== sequence.partition && type !== 'struct');
  const zOrderBy = kind === 'z-order' ? [pick(random, sortable).name] : [];
  return {
    text: `${kind} ${zOrderBy.join()}`,
    state,
    run: (table) =>
      kind === 'checkpoint' ? table.checkpoint({ dryRun: false }) : table.operations.optimize({ zOrderBy, purge: kind === 'purge' }),
  };
}

function restoreStep(random: Random, { states }: Sequence): PlannedStep | undefined {
  const version = randomInt(random, states.length);
  const state = states[version];
  if (state === undefined) return undefined;
  return { text: `restore ${version}`, state, run: (table) => table.operations.restore({ version: toVersion(version) }) };
}

function propertyStep(kind: 'vectors' | 'feed' | 'mapping', random: Random, state: ModelState, mapping: string): PlannedStep | undefined {
  if (kind === 'mapping' && mapping !== 'none') return undefined;
  const on = String(random.next() < 0.6);
  const properties: Readonly<Record<string, string>> = {
    vectors: { 'delta.enableDeletionVectors': on },
    feed: { 'delta.enableChangeDataFeed': on },
    mapping: { 'delta.columnMapping.mode': 'name' },
  }[kind];
  return {
    text: `set ${JSON.stringify(properties)}`,
    state,
    run: (table) => table.operations.alter({ kind: 'set-properties', properties }),
  };
}

export function columnStep(
  kind: 'add-column' | 'rename-column' | 'drop-column' | 'widen' | 'move-column',
  random: Random,
  sequence: Sequence,
  state: ModelState,
  mapped: boolean,
): PlannedStep | undefined {
  const others = state.columns.filter(({ key }) => key !== idKey && key !== sequence.partition);
  const altered = (text: string, columns: readonly ModelColumn[], change: DefinitionChange): PlannedStep => ({
    text,
    state: { ...state, columns },
    run: (table) => table.operations.alter(change),
  });
  if (kind === 'add-column') {
    const added = randomColumn(random, sequence, state, mapped ? mappedNames : names);
    if (added === undefined) return undefined;
    return altered(`add ${added.name} ${added.type}`, [...state.columns, added], {
      kind: 'add-columns',
      columns: [{ parent: [], field: { name: added.name, type: typeOf(added), nullable: true } }],
    });
  }
  if (kind === 'rename-column') {
    const to = freeName(random, state, mappedNames);
    if (!mapped || to === undefined) return undefined;
    const renamed = pick(random, state.columns);
    const columns = state.columns.map((column) => (column === renamed ? { ...column, name: to } : column));
    return altered(`rename ${renamed.name} to ${to}`, columns, { kind: 'rename-column', path: [renamed.name], to });
  }
  if (others.length === 0) return undefined;
  const column = pick(random, others);
  if (kind === 'drop-column') {
    if (!mapped || state.columns.length < 3) return undefined;
    return altered(
      `drop ${column.name}`,
      state.columns.filter((candidate) => candidate !== column),
      { kind: 'drop-columns', paths: [[column.name]] },
    );
  }
  if (kind === 'move-column') {
    const columns = [column, ...state.columns.filter((candidate) => candidate !== column)];
    return altered(`move ${column.name}`, columns, { kind: 'move-column', path: [column.name], place: { kind: 'first' } });
  }
  if (column.type !== 'int') return undefined;
  const columns = state.columns.map((candidate) => (candidate === column ? { ...column, type: 'long' as const } : candidate));
  return altered(`widen ${column.name}`, columns, { kind: 'change-type', path: [column.name], type: { kind: 'long' } });
}

function randomColumn(random: Random, sequence: Sequence, state: ModelState, possible: readonly string[]): ModelColumn | undefined {
  const name = freeName(random, state, possible);
  if (name === undefined) return undefined;
  return { key: sequence.nextKey++, name, type: pick<ModelType>(random, ['int', 'double', 'string', 'struct']) };
}

export function freeName(random: Random, { columns }: ModelState, possible: readonly string[]): string | undefined {
  const free = possible.filter((name) => columns.every((column) => column.name.toLowerCase() !== name.toLowerCase()));
  return free.length === 0 ? undefined : pick(random, free);
}

function scalarOf(value: ModelValue): ModelStruct[string] {
  return typeof value === 'object' ? null : value;
}

export function textOf(condition: ModelCondition | undefined): string {
  return condition === undefined ? '' : `where ${JSON.stringify(condition.expression, printable)}`;
}

function printable(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
