import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { type Expression, nullExpression } from '../../expr/expression.ts';
import type { Analyzed, Attribute } from '../plan/analyzed.ts';
import { exactColumn } from '../plan/exact-column.ts';
import type { SetOperation } from '../plan/plan.ts';
import { setColumns, setWords } from '../plan/set-columns.ts';
import type { Execution } from '../run/execution.ts';
import type { Analysis } from './analysis.ts';
import { project } from './analyze-projection.ts';
import { scopesOf } from './bind.ts';
import { newAttribute, type WantedOutput } from './outputs.ts';

interface Sides {
  readonly left: Analyzed;
  readonly right: Analyzed;
}

/** Rows of both sides by the place of their columns; names are the left side's, types those that both fit. */
export function analyzeSet(execution: Execution, operation: SetOperation, sides: Sides): Analyzed {
  const { left, right } = sides;
  const [one = [], other = []] = [left, right].map(({ attributes }) => attributes.map(({ field }) => field));
  const fields = setColumns(setWords[operation], one, other);
  const attributes = fields.map((field) => newAttribute(execution, field.name, field));
  return { kind: 'set', operation, left, right, attributes };
}

/**
 * All rows of both sides, columns matched by name.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` for a column that one side lacks, unless missing ones are null.
 */
export async function analyzeUnionByName(analysis: Analysis, missingAllowed: boolean, sides: Sides): Promise<Analyzed> {
  const { left, right } = sides;
  const onlyRight = right.attributes.filter((attribute) => namedLike(attribute, left) === undefined);
  const missingLeft = missingAllowed ? onlyRight : [];
  const extra = missingAllowed ? undefined : onlyRight[0];
  if (extra !== undefined) throw unresolvedColumn([extra.field.name], scopesOf(left.attributes));
  const leftWanted: WantedOutput[] = [...left.attributes.map(kept), ...missingLeft.map(nullOf)];
  const rightWanted: WantedOutput[] = [
    ...left.attributes.map((attribute) => {
      const other = namedLike(attribute, right);
      if (other !== undefined) return kept(other);
      if (missingAllowed) return nullOf(attribute);
      throw unresolvedColumn([attribute.field.name], scopesOf(right.attributes));
    }),
    ...missingLeft.map(kept),
  ];
  return analyzeSet(analysis.execution, 'union', {
    left: await project(analysis, left, leftWanted),
    right: await project(analysis, right, rightWanted),
  });
}

function kept(attribute: Attribute): WantedOutput {
  return { value: exactColumn(attribute), name: attribute.field.name };
}

function nullOf({ field }: Attribute): WantedOutput {
  const value: Expression = { kind: 'cast', operand: nullExpression, type: field.type, safe: false };
  return { value, name: field.name };
}

function namedLike(attribute: Attribute, side: Analyzed): Attribute | undefined {
  return side.attributes.find(({ field }) => field.name.toLowerCase() === attribute.field.name.toLowerCase());
}
