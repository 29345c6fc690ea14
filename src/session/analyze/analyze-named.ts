import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Analyzed, NamedQuery } from '../plan/analyzed.ts';
import type { ChangeRange, Plan, TableSource } from '../plan/plan.ts';
import { tableAt } from '../read/path-version.ts';
import { viewKeyOf } from '../temp-view-names.ts';
import { type Analysis, emptyScope } from './analysis.ts';
import { analyzeFiles, analyzeTable } from './analyze-source.ts';
import { partsAtHome, temporaryInPermanent } from './analyze-view.ts';
import { newAttribute } from './outputs.ts';
import { travelPoint } from './travel.ts';

/** What a name in FROM stands for: a query of WITH, a view, files, a table. */
export async function analyzeNamed(analysis: Analysis, plan: Plan & { readonly kind: 'named' }): Promise<Analyzed> {
  const { travel } = plan;
  const { execution, scope } = analysis;
  const name = travel === undefined ? viewKeyOf(plan.parts) : undefined;
  const query = name === undefined ? undefined : scope.named.get(name);
  if (query !== undefined) return mentioned(analysis, query);
  const view = name === undefined ? undefined : scope.views.get(name);
  if (view !== undefined && scope.permanentView !== undefined) throw temporaryInPermanent(scope.permanentView, plan.parts);
  // What a view does not show is not to be had of it.
  if (view !== undefined) return { ...(await analysis.within(emptyScope).analyze(view)), hidden: undefined };
  const parts = partsAtHome(analysis, plan.parts);
  const [format = '', path = ''] = parts;
  const fileFormat = format.toLowerCase();
  if (parts.length === 2 && (fileFormat === 'parquet' || fileFormat === 'csv' || fileFormat === 'json') && path.includes('/')) {
    return analyzeFiles(execution, { format: fileFormat, paths: [path], options: new Map() });
  }
  const at = travel === undefined ? undefined : await travelPoint(analysis, travel);
  return analyzeTable(analysis, tableAt(execution.runtime.tables.referenceOf(parts), at, execution.now.zone?.rule));
}

/** The changes of a table that a query names. */
export function analyzeChanges(analysis: Analysis, parts: readonly string[], changes: ChangeRange): Promise<Analyzed> {
  const { runtime, now } = analysis.execution;
  const outOfRangeAllowed = runtime.conf.switch('spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled');
  const source: TableSource = {
    ...tableAt(runtime.tables.referenceOf(partsAtHome(analysis, parts)), undefined, now.zone?.rule),
    changes: { ...changes, outOfRangeAllowed },
  };
  return analyzeTable(analysis, source);
}

async function mentioned({ execution }: Analysis, query: NamedQuery): Promise<Analyzed> {
  const definition = await query.analyzed();
  const { columns } = query;
  query.mentions += 1;
  if (columns !== undefined && columns.length !== definition.attributes.length) {
    throw new AnalysisException({
      errorClass: 'ASSIGNMENT_ARITY_MISMATCH',
      message: `The number of columns or variables assigned or aliased: ${columns.length} does not match the number of source expressions: ${definition.attributes.length}.`,
      parameters: { numTarget: String(columns.length), numExpr: String(definition.attributes.length) },
    });
  }
  const attributes = definition.attributes.map(({ field }, index) => newAttribute(execution, columns?.[index] ?? field.name, field));
  return { kind: 'mention', query, definition, attributes };
}
