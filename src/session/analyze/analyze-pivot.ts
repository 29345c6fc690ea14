import { AnalysisException } from '../../base/analysis-exception.ts';
import { commonType } from '../../expr/common-type.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { columnsOf, hasAggregate, isAggregate, mapExpression } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { outputName } from '../../expr/output-name.ts';
import { expressionSql } from '../../expr/sql/engine-sql.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType } from '../../schema/types.ts';
import { columnSql } from '../lower/column-sql.ts';
import type { Analyzed, Attribute } from '../plan/analyzed.ts';
import { exactColumn } from '../plan/exact-column.ts';
import type { PivotValue, Plan, UnpivotedColumns } from '../plan/plan.ts';
import type { Analysis } from './analysis.ts';
import { generated } from './analyze-generators.ts';
import { project } from './analyze-projection.ts';
import { analyzeAggregate } from './analyze-select.ts';
import { outputsOf, type WantedOutput } from './outputs.ts';
import { pivotValues } from './pivot-values.ts';

/** @throws AnalysisException `PIVOT_…`: what is aggregated does not aggregate, a value has more or fewer parts than there are columns. */
export async function analyzePivot(analysis: Analysis, plan: Plan & { readonly kind: 'pivot' }, input: Analyzed): Promise<Analyzed> {
  for (const aggregate of plan.aggregates) {
    if (!hasAggregate(aggregate))
      throw refused(
        '_LEGACY_ERROR_TEMP_1006',
        `Aggregate expression required for pivot, but "${outputName(aggregate)}" did not appear in any aggregate function.`,
      );
  }
  const groups = plan.groups ?? (await unnamed(analysis, [...plan.on, ...plan.aggregates], input)).map(exactColumn);
  const [first] = plan.on;
  const given = plan.values ?? (first === undefined ? [] : await pivotValues(analysis, first, plan.input));
  for (const { values } of given) {
    if (values.length !== plan.on.length)
      throw refused('PIVOT_VALUE_DATA_TYPE_MISMATCH', `a value of the pivot has ${values.length} parts for ${plan.on.length} columns`);
  }
  const names = await namesOf(analysis, given, input);
  const types = await Promise.all(plan.on.map((_, place) => typeAt(analysis, [plan.on], place, input)));
  const aggregates = given.flatMap(({ values, ...value }, index) =>
    plan.aggregates.map((aggregate) => ofValue(plan, aggregate, { ...value, values: castTo(types, values), name: names[index] })),
  );
  return analyzeAggregate(analysis, { kind: 'aggregate', groups, aggregates, input: plan.input }, input);
}

/** Values without a name are called as they are as text. */
async function namesOf(analysis: Analysis, values: readonly PivotValue[], input: Analyzed): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const operand of values.flatMap((value) => value.values)) {
    await requireConstant(analysis, operand, input);
    const bound = await analysis.bind({ kind: 'cast', operand, type: { kind: 'string' }, safe: false }, { attributes: [] });
    texts.push(expressionSql(bound, columnSql));
  }
  if (texts.length === 0) return [];
  const { engine, signal } = analysis.execution;
  const [row = []] = await engine.rows(`SELECT ${texts.join(', ')}`, signal);
  const shown = row.map((value) => (typeof value === 'string' ? value : 'null'));
  return values.map((value) => {
    const parts = shown.splice(0, value.values.length);
    return value.name ?? (parts.length === 1 ? (parts[0] ?? '') : `{${parts.join(', ')}}`);
  });
}

async function requireConstant(analysis: Analysis, value: Expression, input: Analyzed): Promise<void> {
  if (columnsOf(await analysis.bind(value, input)).length === 0) return;
  throw refused('NON_LITERAL_PIVOT_VALUES', `Literal expressions required for pivot values, found "${outputName(value)}".`);
}

/** Values are of the columns' types. */
function castTo(types: readonly DataType[], values: readonly Expression[]): readonly Expression[] {
  return values.map((operand, place): Expression => {
    const type = types[place];
    return type === undefined ? operand : { kind: 'cast', operand, type, safe: false };
  });
}

/** An aggregate over the rows that have the value; NULL in groups that have none. */
function ofValue(plan: Plan & { readonly kind: 'pivot' }, aggregate: Expression, value: PivotValue): Expression {
  const operand = aggregate.kind === 'alias' ? aggregate.operand : aggregate;
  const has = conjunction(
    plan.on.map((left, index): Expression => ({ kind: 'binary', operator: '<=>', left, right: value.values[index] ?? left })),
  );
  const over = mapExpression(operand, (node) =>
    isAggregate(node)
      ? { ...node, filter: conjunction([...(node.filter === undefined ? [] : [node.filter]), ...(has === undefined ? [] : [has])]) }
      : node,
  );
  const rows: Expression = { kind: 'call', name: 'count', arguments: [], star: true, filter: has };
  const none: Expression = { kind: 'literal', literal: { type: 'integer', value: 0n, width: 'integer' } };
  const when: Expression = { kind: 'binary', operator: '>', left: rows, right: none };
  const valueName = value.name ?? '';
  const name = plan.aggregates.length === 1 ? valueName : `${valueName}_${outputName(aggregate)}`;
  return { kind: 'alias', operand: { kind: 'case', branches: [{ when, then: over }] }, name };
}

/** Columns of the input that no expression names. */
async function unnamed(analysis: Analysis, expressions: readonly Expression[], input: Analyzed): Promise<readonly Attribute[]> {
  const ids = new Set<string>();
  for (const expression of expressions) {
    const bound = await analysis.bind(expression.kind === 'alias' ? expression.operand : expression, input);
    for (const { path } of columnsOf(bound)) ids.add(path[0] ?? '');
  }
  return input.attributes.filter(({ id }) => !ids.has(id));
}

/** @throws AnalysisException `UNPIVOT_VALUE_DATA_TYPE_MISMATCH` 42K09, `UNPIVOT_VALUE_SIZE_MISMATCH` 428C4, `UNPIVOT_REQUIRES_VALUE_COLUMNS` 42K0A. */
export async function analyzeUnpivot(analysis: Analysis, plan: Plan & { readonly kind: 'unpivot' }, input: Analyzed): Promise<Analyzed> {
  const rest = async (others: readonly Expression[]): Promise<readonly Attribute[]> => unnamed(analysis, others, input);
  const columns =
    plan.columns ??
    (await rest(plan.ids ?? [])).map((attribute): UnpivotedColumns => ({ columns: [exactColumn(attribute)], name: attribute.field.name }));
  const turned = columns.map((row) => row.columns);
  if (turned.length === 0) {
    const message = 'At least one value column needs to be specified for UNPIVOT, all columns specified as ids.';
    throw refused('UNPIVOT_REQUIRES_VALUE_COLUMNS', message);
  }
  if (turned.some(({ length }) => length !== plan.valueColumns.length)) {
    const message = `All unpivot value columns must have the same size as there are value column names (${plan.valueColumns.length}).`;
    throw refused('UNPIVOT_VALUE_SIZE_MISMATCH', message);
  }
  const kept: readonly WantedOutput[] =
    plan.ids === undefined
      ? (await rest(turned.flat())).map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name }))
      : plan.ids.map((value) => ({ value }));
  const types = await Promise.all(plan.valueColumns.map((_, place) => typeAt(analysis, turned, place, input)));
  const rows = columns.map(({ columns: sources, name }): Expression => {
    const values = plan.valueColumns.flatMap((valueName, place): readonly Expression[] => {
      const [operand, type] = [sources[place], types[place]];
      return operand === undefined || type === undefined ? [] : [text(valueName), { kind: 'cast', operand, type, safe: false }];
    });
    const shown = name ?? sources.map(outputName).join('_');
    return { kind: 'call', name: 'named_struct', arguments: [text(plan.nameColumn), text(shown), ...values] };
  });
  const call: Expression = { kind: 'call', name: 'inline', arguments: [{ kind: 'call', name: 'array', arguments: rows }] };
  const joined = await generated(analysis, input, { call, outer: false, names: [plan.nameColumn, ...plan.valueColumns] });
  const made = joined.attributes.slice(input.attributes.length);
  const wanted = [...kept, ...made.map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name }))];
  const present = made
    .slice(1)
    .map((attribute): Expression => ({ kind: 'is', operand: exactColumn(attribute), test: 'null', negated: true }));
  const some = present.reduce((left, right): Expression => ({ kind: 'binary', operator: 'or', left, right }));
  if (plan.keepsNulls) return project(analysis, joined, wanted);
  const condition = await analysis.bind(some, joined);
  return project(analysis, { kind: 'filter', condition, input: joined, attributes: joined.attributes }, wanted);
}

async function typeAt(analysis: Analysis, turned: readonly (readonly Expression[])[], place: number, input: Analyzed): Promise<DataType> {
  const outputs = await outputsOf(
    analysis,
    input,
    turned.flatMap((columns) => columns[place] ?? []).map((value) => ({ value })),
  );
  const types = outputs.map(({ attribute, value }) => expressionType(value) ?? attribute.field.type);
  const found = types.reduce<DataType | undefined>((all, type) => all && commonType(all, type), { kind: 'void' });
  // Of texts and numbers there is no common type here.
  if (found !== undefined && types.every(({ kind }) => (kind === 'string') === (found.kind === 'string') || kind === 'void')) return found;
  throw refused(
    'UNPIVOT_VALUE_DATA_TYPE_MISMATCH',
    `Unpivot value columns must share a least common type, some types do not: [${types.map((type) => `"${sqlTypeName(type)}"`).join(', ')}].`,
  );
}

function text(value: string): Expression {
  return { kind: 'literal', literal: { type: 'string', value } };
}

function refused(errorClass: string, message: string): AnalysisException {
  return new AnalysisException({ errorClass, message });
}
