import { quoted } from '../../session/execute/sql-text.ts';
import { map, pair, type YamlEntry } from '../pipeline-yaml.ts';
import type { ConnectorOptions } from './connector-options.ts';
import type { RecordDraft } from './record-draft.ts';
import { behindOffsets, placeColumns, type SinkOffset } from './sink-offsets.ts';
import type { PlannedColumn, PlannedCondition, PlannedTable } from './sink-plan.ts';

/** What is declared for a table and its route. */
export interface PlannedColumns {
  /** Columns of the records are not known: those here are a place holder. */
  readonly isPlaceholder: boolean;
  readonly table: readonly PlannedColumn[];
  /** `columns` of the route; `undefined`: those of the table. */
  readonly record: readonly PlannedColumn[] | undefined;
  /** Of a place holder what it is to be, later. */
  readonly select: readonly string[] | undefined;
  readonly conditions: readonly PlannedCondition[];
  readonly evolve: readonly YamlEntry[];
  /** Why no row may be written yet. */
  readonly doubts: readonly string[];
  readonly remarks: readonly string[];
  /** Whether the table's columns, as far as they are known, have these. */
  readonly has: (names: readonly string[]) => boolean;
}

/** A table that the sink has filled has no offsets that are read here. */
const begin = 'the sink has written records of these topics to the table; choose where to begin, as the guide says at "Switching over"';

/** What a table and its route declare, by what transforms have made of the records. */
export function planColumns(table: PlannedTable, parts: ColumnParts): PlannedColumns {
  const { draft, options, offsets } = parts;
  const isPlaced = offsets !== undefined && table.topicPattern === undefined;
  const behind = isPlaced ? behindOffsets(offsets, table.topics) : undefined;
  const conditions = [behind, ...draft.conditions, table.condition].filter((condition) => condition !== undefined);
  const added = [...table.added, ...draft.added];
  const known = {
    table,
    draft,
    conditions,
    added: unique(added),
    doubts: [...(isPlaced ? [] : [begin]), ...draft.doubts, ...table.doubts],
  };
  return draft.row.isKnown ? knownColumns(known, options) : openColumns(known);
}

/** What columns follow from, besides the table. */
interface ColumnParts {
  readonly draft: RecordDraft;
  readonly options: ConnectorOptions;
  /** How far the sink is, where whoever asks has said it. */
  readonly offsets: readonly SinkOffset[] | undefined;
}

interface Parts {
  readonly table: PlannedTable;
  readonly draft: RecordDraft;
  readonly conditions: readonly PlannedCondition[];
  readonly added: readonly PlannedColumn[];
  readonly doubts: readonly string[];
}

/** The columns of the records are there: those of the table follow from them. */
function knownColumns({ table, draft, conditions, added, doubts }: Parts, options: ConnectorOptions): PlannedColumns {
  const { row } = draft;
  const fields = row.fields.map(
    ([name, type]): PlannedColumn =>
      type === undefined ? { name, type: { kind: 'string' }, note: 'CHECK: its type is not known' } : { name, type },
  );
  const declared = unique([...fields, ...added]);
  const identifiers = new Set(table.identifierColumns);
  const columns = declared.map((column) => (identifiers.has(column.name) ? { ...column, required: true } : column));
  const record = unique([...row.record, ...added]);
  const needs = unique([...record, ...conditions.flatMap(({ needs: needed }) => needed)]);
  const isComputed = row.select !== undefined || needs.length > record.length;
  const own = row.select ?? row.record.map(({ name }) => quoted(name));
  const format = draft.value.get('format')?.setting;
  const isFixed = format === 'string' || format === 'bytes';
  if (table.evolves && (isComputed || isFixed))
    options.note(
      'evolution of the schema',
      'refused',
      `a route with ${isFixed ? 'plain values' : 'select'} has the columns that are declared`,
    );
  return {
    isPlaceholder: false,
    table: columns,
    record: isComputed ? needs : undefined,
    select: isComputed ? [...own, ...added.map(({ name }) => quoted(name)).filter((name) => !own.includes(name))] : undefined,
    conditions,
    evolve: table.evolves && !isComputed && !isFixed ? [evolveEntry(true)] : [],
    doubts,
    remarks: [],
    has: (names) => names.every((name) => columns.some((column) => column.name === name)),
  };
}

/** They are not: records add what is not declared. */
function openColumns({ table, draft, conditions, added, doubts }: Parts): PlannedColumns {
  const named = unique([...added, ...conditions.flatMap(({ needs }) => needs)]);
  const columns = named.length === 0 ? placeColumns : named;
  const { select } = draft.row;
  const topic = table.topics[0] ?? '<topic>';
  return {
    isPlaceholder: true,
    table: columns,
    record: undefined,
    select,
    conditions,
    evolve: [evolveEntry(table.evolves)],
    doubts: [...(select === undefined ? [] : ['what transforms do needs the columns of the records']), ...doubts],
    remarks: [
      `CHECK: a connector has its columns from schemas, and they are not known here. These are a place holder: tidewater init ${topic} --table ${table.name} --table-format ${table.format}`,
      'finds them; or give --columns with this command. Until then the records’ members become columns, or go to those of their name.',
    ],
    has: () => false,
  };
}

function evolveEntry(wasOn: boolean): YamlEntry {
  const all = wasOn ? [pair('widenTypes', true), pair('relaxRequired', true)] : [];
  return map(
    'evolve',
    [pair('addColumns', true), ...all],
    wasOn ? 'evolve-schema-enabled' : 'CHECK: take it out when the columns are declared; the sink added none',
  );
}

/** The first of each name counts. */
function unique(columns: readonly PlannedColumn[]): readonly PlannedColumn[] {
  const names = new Set<string>();
  return columns.filter(({ name }) => !names.has(name.toLowerCase()) && names.add(name.toLowerCase()));
}
