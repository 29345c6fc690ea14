import { AnalysisException } from '../../base/analysis-exception.ts';
import { hasAggregate } from '../../expr/expression-tree.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { Field } from '../../schema/types.ts';
import { limitOf } from '../conf/limit-of.ts';
import type { Analyzed, Attribute, NamedQuery } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import { setColumns } from '../plan/set-columns.ts';
import type { Analysis } from './analysis.ts';
import { analyzeSet } from './analyze-set.ts';
import { newAttribute } from './outputs.ts';

type Recursion = Plan & { readonly kind: 'recursion' };

/**
 * A query of WITH RECURSIVE: the rows of its first branch, then those that its second branch makes of the rows before, until it makes none.
 * One whose branches do not mention it is a query like any other.
 *
 * @throws AnalysisException `INVALID_RECURSIVE_CTE`, `UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE`, `INVALID_RECURSIVE_REFERENCE.PLACE`,
 * `CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE`.
 */
export async function analyzeRecursion(analysis: Analysis, plan: Recursion): Promise<Analyzed> {
  const { execution } = analysis;
  const refused: NamedQuery = { id: '', columns: undefined, analyzed: () => Promise.reject(invalidRecursion()), mentions: 0 };
  const anchor = await knowing(analysis, plan, refused).analyze(plan.anchor);
  if (plan.step === undefined) return anchor;
  const attributes = anchor.attributes.map(({ field }) => newAttribute(execution, field.name, { ...field, nullable: true }));
  const self: NamedQuery = {
    id: `recursion_${execution.nextNumber()}`,
    columns: plan.columns,
    analyzed: () => Promise.resolve({ kind: 'values', rows: [], attributes }),
    // Written by its name at every mention: what it stands for are the rows of the level before.
    mentions: 2,
  };
  const step = await knowing(analysis, plan, self).analyze(plan.step);
  if (self.mentions === 2) return analyzeSet(execution, plan.distinct ? 'union-distinct' : 'union', { left: anchor, right: step });
  if (plan.distinct) throw distinctRecursion();
  if (isMisplaced(step, self)) throw misplaced();
  requireSameTypes(attributes, step.attributes);
  const { conf } = execution.runtime;
  const limits = { levels: plan.maxLevel ?? limitOf(conf, levelKey, 100), rows: limitOf(conf, rowKey, 1_000_000) };
  return { kind: 'recursion', id: self.id, limits, left: anchor, right: step, attributes };
}

const levelKey = 'spark.sql.cteRecursionLevelLimit';
const rowKey = 'spark.sql.cteRecursionRowLimit';

function knowing(analysis: Analysis, { name }: Recursion, query: NamedQuery): Analysis {
  return analysis.within({ named: new Map([...analysis.scope.named, [name.toLowerCase(), query]]) });
}

/** Whether rows of the level before are aggregated, or stand on a side of a join that may lack them. */
function isMisplaced(node: Analyzed, self: NamedQuery): boolean {
  const aggregates = node.kind === 'aggregate' || (node.kind === 'project' && node.outputs.some(({ value }) => hasAggregate(value)));
  if (aggregates && mentions(node.input, self)) return true;
  if (node.kind === 'join') {
    const lacksRight = node.join === 'left' || node.join === 'semi' || node.join === 'anti' || node.join === 'full';
    const lacksLeft = node.join === 'right' || node.join === 'full';
    if ((lacksRight && mentions(node.right, self)) || (lacksLeft && mentions(node.left, self))) return true;
  }
  return inputsOf(node).some((input) => isMisplaced(input, self));
}

function mentions(node: Analyzed, self: NamedQuery): boolean {
  return (node.kind === 'mention' && node.query === self) || inputsOf(node).some((input) => mentions(input, self));
}

function inputsOf(node: Analyzed): readonly Analyzed[] {
  if ('left' in node) return [node.left, node.right];
  return 'input' in node ? [node.input] : [];
}

/** The rows of all levels have the types of the first. */
function requireSameTypes(first: readonly Attribute[], next: readonly Attribute[]): void {
  const fieldsOf = (attributes: readonly Attribute[]): readonly Field[] => attributes.map(({ field }) => field);
  for (const [index, { name, type }] of setColumns('UNION ALL', fieldsOf(first), fieldsOf(next)).entries()) {
    const [own, other] = [first[index]?.field.type, next[index]?.field.type];
    if (own === undefined || other === undefined || sqlTypeName(type) === sqlTypeName(own)) continue;
    throw new AnalysisException({
      errorClass: 'CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE',
      message: `Failed to merge incompatible data types "${sqlTypeName(own)}" and "${sqlTypeName(other)}" of column ${name} of a recursive query.`,
      hint: 'cast the column in the first branch, or in the second one',
      parameters: { left: sqlTypeName(own), right: sqlTypeName(other) },
    });
  }
}

function invalidRecursion(): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_RECURSIVE_CTE',
    message:
      'Invalid recursive definition found. Recursive queries must contain an UNION or an UNION ALL statement with 2 children. The first child needs to be the anchor term without any recursive references.',
    hint: 'write the query as: first rows UNION ALL SELECT … FROM itself',
  });
}

function distinctRecursion(): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE',
    message: 'The UNION operator is not yet supported within recursive common table expressions.',
    hint: 'take UNION ALL',
  });
}

function misplaced(): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_RECURSIVE_REFERENCE.PLACE',
    message:
      'Invalid recursive reference found inside WITH RECURSIVE clause. Recursive references cannot be used on the right side of left outer/semi/anti joins, on the left side of right outer joins, in full outer joins and in aggregates.',
    hint: 'aggregate the rows of the finished recursion',
  });
}
