import { rememberedAt, rememberedOn } from '../commit/keyed/tombstone-table.ts';
import { fieldOf } from '../schema/columns.ts';
import { madeLike } from './made-table.ts';
import type { TableSettings } from './table-settings.ts';

/** The tables, and behind them those that remember the deleted keys of some. */
export function withTombstoneTables(tables: readonly TableSettings[]): readonly TableSettings[] {
  return [...tables, ...tables.flatMap(tombstoneTable)];
}

function tombstoneTable(table: TableSettings): readonly TableSettings[] {
  const { keyed, definition } = table;
  if (keyed?.tombstones === undefined) return [];
  const columns = [...new Set([...keyed.keyColumns, ...keyed.orderColumns])];
  const fields = columns.flatMap((name) => fieldOf(definition.schema, name) ?? []);
  return [
    {
      ...madeLike(table, keyed.tombstones.table),
      definition: {
        schema: { kind: 'struct', fields: [...fields, rememberedAt, rememberedOn] },
        partitionColumns: [rememberedOn.name],
        properties: {},
      },
      sources: new Map(),
      keyed: undefined,
      tombstonesOf: table.name,
    },
  ];
}
