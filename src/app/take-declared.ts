import type { TableEvolution } from '../commit/table-evolution.ts';
import type { TableSettings } from '../config/table-settings.ts';
import { declaredNeeds } from '../ingest/evolve/row-needs.ts';
import type { Table } from '../table/table.ts';

/** Gives a table the columns that were declared since it was made. */
export async function takeDeclared(
  settings: TableSettings,
  table: Pick<Table, 'refresh'>,
  evolution: TableEvolution,
  signal: AbortSignal,
): Promise<void> {
  const { schema } = await table.refresh(signal);
  const needs = declaredNeeds(settings.definition.schema, schema, evolution.spec);
  if (needs.length > 0) await evolution.apply(needs, schema, signal);
}
