import { conjunction, type Expression } from '../../expr/expression.ts';
import { isDeterministic } from '../../expr/expression-tree.ts';
import type { Relation } from '../../table/relation.ts';
import type { Analyzed } from './analyzed.ts';
import type { Execution } from './execution.ts';
import { renamed } from './hints.ts';

/** The rows of a table's version; files that cannot hold a row of the hints are left out. */
export async function scanTable(
  execution: Execution,
  plan: Extract<Analyzed, { readonly kind: 'table' }>,
  hints: readonly Expression[],
): Promise<Relation> {
  const names = new Map(plan.attributes.map(({ id, field }) => [id, [field.name]]));
  const filter = conjunction(renamed(hints, names).filter(isDeterministic));
  const scan = await plan.table.scan(plan.snapshot, { filter, appendedAfter: plan.appendedAfter }, execution.signal);
  execution.report({ table: plan.table.name, version: plan.snapshot.version, ...scan.statistics });
  return execution.keep(await execution.engine.scan(scan, {}, execution.signal));
}
