import { AnalysisException } from '../../base/analysis-exception.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import type { Expression } from '../../expr/expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { project } from './analyze-projection.ts';
import type { Analyzed, Attribute } from './analyzed.ts';
import { scopesOf } from './bind.ts';
import { exactColumn } from './exact-column.ts';
import type { Execution } from './execution.ts';
import { newAttribute, standInSql, type WantedOutput } from './outputs.ts';
import type { SetOperation } from './plan.ts';

interface Sides {
  readonly left: Analyzed;
  readonly right: Analyzed;
}

/** Rows of both sides by the place of their columns; names are the left side's, types those that both fit. */
export async function analyzeSet(execution: Execution, operation: SetOperation, sides: Sides): Promise<Analyzed> {
  const { left, right } = sides;
  if (left.attributes.length !== right.attributes.length) {
    throw new AnalysisException({
      errorClass: 'NUM_COLUMNS_MISMATCH',
      sqlState: '42826',
      message: `${operation.toUpperCase().replace('-', ' ')} can only be performed on inputs with the same number of columns, but the first input has ${left.attributes.length} columns and the second input has ${right.attributes.length} columns.`,
      parameters: {
        operator: operation,
        firstNumColumns: String(left.attributes.length),
        invalidNumColumns: String(right.attributes.length),
      },
    });
  }
  const sql = `SELECT ${columnList(left.attributes)} FROM (${standInSql(left.attributes)}) AS "l" UNION ALL SELECT ${columnList(right.attributes)} FROM (${standInSql(right.attributes)}) AS "r"`;
  const described = await execution.engine.describe(sql, execution.signal);
  const attributes = left.attributes.map((attribute, index) => {
    const other = right.attributes[index];
    const type = described.fields[index]?.type ?? attribute.field.type;
    return newAttribute(execution, attribute.field.name, {
      name: attribute.field.name,
      type,
      nullable: attribute.field.nullable || other?.field.nullable !== false,
    });
  });
  return { kind: 'set', operation, left, right, attributes };
}

/**
 * All rows of both sides, columns matched by name.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` for a column that one side lacks, unless missing ones are null.
 */
export async function analyzeUnionByName(execution: Execution, missingAllowed: boolean, sides: Sides): Promise<Analyzed> {
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
  return analyzeSet(execution, 'union', {
    left: await project(execution, left, leftWanted),
    right: await project(execution, right, rightWanted),
  });
}

function kept(attribute: Attribute): WantedOutput {
  return { value: exactColumn(attribute), name: attribute.field.name };
}

function nullOf({ field }: Attribute): WantedOutput {
  const value: Expression = { kind: 'cast', operand: { kind: 'literal', literal: { type: 'null' } }, type: field.type, safe: false };
  return { value, name: field.name };
}

function namedLike(attribute: Attribute, side: Analyzed): Attribute | undefined {
  return side.attributes.find(({ field }) => field.name.toLowerCase() === attribute.field.name.toLowerCase());
}

function columnList(attributes: readonly Attribute[]): string {
  return attributes.map(({ id }) => quoteName(id)).join(', ');
}
