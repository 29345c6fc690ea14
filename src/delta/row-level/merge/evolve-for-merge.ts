import type { Field } from '../../../schema/types.ts';
import type { MergeRequest } from '../../../table/row-operations.ts';
import { evolveSchema, type WriteTarget } from '../../write/evolve-schema.ts';
import type { DeltaRowWork } from '../row-work.ts';

/**
 * The table with the columns that a MERGE with schema evolution adds: those of the source that its `*` clauses, or assignments by name,
 * mention and the table lacks. The version that is read when there are none.
 *
 * @throws AnalysisException as a write with `mergeSchema` does.
 */
export function evolvedForMerge(work: DeltaRowWork, request: MergeRequest): WriteTarget {
  const { snapshot, context } = work;
  const fields = request.schemaEvolution === true ? mentionedFields(request) : [];
  if (fields.length === 0) return { snapshot, actions: [] };
  return evolveSchema(context, snapshot, {
    rows: { sql: request.source.sql, schema: { kind: 'struct', fields } },
    mode: { kind: 'append' },
    matchBy: 'name',
    storeAssignment: true,
    mergeSchema: true,
  });
}

function mentionedFields({ source, clauses }: MergeRequest): readonly Field[] {
  const names = new Set<string>();
  for (const clause of clauses) {
    if (clause.action === 'delete' || clause.on === 'not-matched-by-source') continue;
    const given = clause.action === 'insert' ? clause.values : clause.assignments;
    if (given === 'all') return source.schema.fields;
    for (const { target } of given) if (target.length === 1) names.add((target[0] ?? '').toLowerCase());
  }
  return source.schema.fields.filter((field) => names.has(field.name.toLowerCase()));
}
