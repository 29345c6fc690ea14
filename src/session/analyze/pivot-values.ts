import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import type { Expression } from '../../expr/expression.ts';
import type { DataType } from '../../schema/types.ts';
import { limitOf } from '../conf/limit-of.ts';
import { lowerPlan } from '../lower/lower.ts';
import type { PivotValue, Plan } from '../plan/plan.ts';
import { rowsOfBatch } from '../rows/read-rows.ts';
import type { Analysis } from './analysis.ts';

const maxKey = 'spark.sql.pivotMaxValues';
const defaultMax = 10_000;
const nested: ReadonlySet<DataType['kind']> = new Set(['struct', 'list', 'map', 'binary', 'variant']);

/**
 * The values that a column has, in order, NULL first: what a pivot without values makes columns of. Reads the rows of the input.
 *
 * @throws AnalysisException `_LEGACY_ERROR_TEMP_1324` for more than `spark.sql.pivotMaxValues` (10,000), `UNSUPPORTED_FEATURE` for columns
 * whose values are nested or binary.
 */
export async function pivotValues(analysis: Analysis, on: Expression, input: Plan): Promise<readonly PivotValue[]> {
  const { execution } = analysis;
  const max = limitOf(execution.runtime.conf, maxKey, defaultMax);
  const columns: Plan = { kind: 'select', columns: [{ kind: 'alias', operand: on, name: 'value' }], input };
  const column: Expression = { kind: 'column', path: ['value'] };
  const distinct: Plan = { kind: 'sort', keys: [{ expression: column, descending: false }], input: { kind: 'distinct', input: columns } };
  const text: Expression = {
    kind: 'alias',
    operand: { kind: 'cast', operand: column, type: { kind: 'string' }, safe: false },
    name: 'text',
  };
  const type = (await analysis.analyze(distinct)).attributes[0]?.field.type ?? { kind: 'void' };
  if (nested.has(type.kind)) throw unsupported(`pivot() without values over a column of type ${type.kind}`, 'give the values');
  const sorted: Plan = { kind: 'select', columns: [text], input: distinct };
  const relation = await lowerPlan(execution, await analysis.analyze(sorted));
  const values: PivotValue[] = [];
  for await (const batch of execution.engine.read(relation, execution.signal)) {
    for (const row of rowsOfBatch(batch)) {
      const value = row['text'];
      const operand: Expression = { kind: 'literal', literal: typeof value === 'string' ? { type: 'string', value } : { type: 'null' } };
      values.push({ values: [{ kind: 'cast', operand, type, safe: false }] });
      if (values.length > max) throw tooMany(max);
    }
  }
  return values;
}

function tooMany(max: number): AnalysisException {
  return new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_1324',
    message: `The pivot column has more than ${max} distinct values, this could indicate an error. If this was intended, set ${maxKey} to at least the number of distinct values of the pivot column.`,
    parameters: { maxValues: String(max), key: maxKey },
    hint: 'or give the values: pivot(column, values)',
  });
}
