import { TableEvolution } from '../commit/table-evolution.ts';
import { declaredNeeds } from '../ingest/evolve/row-needs.ts';
import { type EvolutionPolicy, needText } from '../protocol/table-needs.ts';
import type { Table } from '../table/table.ts';
import type { LeaderPoint } from '../table/twin.ts';

/** A twin takes whatever its leader took. */
const whatever: EvolutionPolicy = { addColumns: true, widenTypes: true, relaxRequired: true, maxColumns: 100_000 };

/** Gives a twin the columns of its leader, as far as its format goes: what is left is for those who look at it next. */
export function adaptTwin(
  twin: Table,
  observer: { evolved(what: string): void },
): (point: LeaderPoint, signal: AbortSignal | undefined) => Promise<void> {
  return async ({ schema }, signal) => {
    const evolution = new TableEvolution(twin, whatever, {
      evolved: (need) => {
        observer.evolved(needText(need));
      },
      notEvolved: () => undefined,
    });
    const has = (await twin.refresh(signal)).schema;
    const needs = declaredNeeds(schema, has, evolution.spec);
    if (needs.length > 0) await evolution.apply(needs, has, signal);
  };
}
