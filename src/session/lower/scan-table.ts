import { conjunction, type Expression } from '../../expr/expression.ts';
import { isDeterministic } from '../../expr/expression-tree.ts';
import type { Relation } from '../../table/relation.ts';
import type { Analyzed, Attribute } from '../plan/analyzed.ts';
import type { Execution } from '../run/execution.ts';
import { renamed } from './hints.ts';

/** The rows of a table's version, with the hidden columns among its attributes; files that cannot hold a row of the hints are left out. */
export async function scanTable(
  execution: Execution,
  plan: Extract<Analyzed, { readonly kind: 'table' }>,
  hints: readonly Expression[],
): Promise<Relation> {
  const hiddenIds = new Set(plan.hidden?.map(({ id }) => id));
  const filterOf = (columns: readonly Attribute[]): Expression | undefined => {
    const names = new Map(columns.map(({ id, field }) => [id, [field.name]]));
    return conjunction(renamed(hints, names).filter(isDeterministic));
  };
  const filter = filterOf(plan.attributes.filter(({ id }) => !hiddenIds.has(id)));
  const asked = plan.attributes.filter(({ id }) => hiddenIds.has(id));
  const hidden = asked.length === 0 ? {} : { hidden: asked.map(({ field }) => field.name), hiddenFilter: filterOf(asked) };
  const scan = await plan.table.scan(plan.snapshot, { filter, appendedAfter: plan.appendedAfter, ...hidden }, execution.signal);
  execution.report({ table: plan.table.name, version: plan.snapshot.version, ...scan.statistics });
  return execution.keep(await execution.engine.scan(scan, {}, execution.signal));
}
