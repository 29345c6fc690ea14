import { AnalysisException } from '../../base/analysis-exception.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { requireDistinctRows } from '../../expr/clause-rules.ts';
import type { Expression } from '../../expr/expression.ts';
import type { Analyzed, Attribute, Nameable } from '../plan/analyzed.ts';
import { exactColumn } from '../plan/exact-column.ts';
import type { Analysis } from './analysis.ts';
import { withGenerators } from './analyze-generators.ts';
import { plainAttribute, scopesOf } from './bind.ts';
import { boundOutputs, typedOutputs, type WantedOutput } from './outputs.ts';

export async function analyzeWithColumns(
  analysis: Analysis,
  columns: readonly { readonly name: string; readonly value: Expression }[],
  input: Analyzed,
): Promise<Analyzed> {
  const replaced = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  const present = new Set(input.attributes.map(({ field }) => field.name.toLowerCase()));
  // Values are over the input, not over one another.
  const kept: WantedOutput[] = input.attributes.map(
    (attribute) => replaced.get(attribute.field.name.toLowerCase()) ?? { value: exactColumn(attribute), name: attribute.field.name },
  );
  const added = columns.filter(({ name }) => !present.has(name.toLowerCase()));
  return projectGenerated(analysis, input, [...kept, ...added]);
}

/** Names without such a column are left alone, as Spark does. */
export async function analyzeRename(analysis: Analysis, names: ReadonlyMap<string, string>, input: Analyzed): Promise<Analyzed> {
  const byName = new Map([...names].map(([from, to]) => [from.toLowerCase(), to]));
  const wanted = input.attributes.map((attribute) => ({
    value: exactColumn(attribute),
    name: byName.get(attribute.field.name.toLowerCase()) ?? attribute.field.name,
  }));
  return project(analysis, input, wanted);
}

/** Columns that are not there are no error, as in Spark. */
export async function analyzeDrop(analysis: Analysis, columns: readonly Expression[], input: Analyzed): Promise<Analyzed> {
  const dropped = new Set<string>();
  for (const column of columns) {
    const name = column.kind === 'column' && column.path.length === 1 ? column.path[0]?.toLowerCase() : undefined;
    if (name !== undefined && !name.startsWith('\u0001')) {
      for (const { id, field } of input.attributes) if (field.name.toLowerCase() === name) dropped.add(id);
    } else {
      const attribute = await boundOrAbsent(analysis, column, input);
      if (attribute !== undefined) dropped.add(attribute.id);
    }
  }
  const kept = input.attributes.filter(({ id }) => !dropped.has(id));
  return project(
    analysis,
    input,
    kept.map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name })),
  );
}

export async function analyzeToNames(analysis: Analysis, names: readonly string[], input: Analyzed): Promise<Analyzed> {
  if (names.length !== input.attributes.length) {
    throw new AnalysisException({
      errorClass: 'ASSIGNMENT_ARITY_MISMATCH',
      message: `The number of columns or variables assigned or aliased: ${names.length} does not match the number of source expressions: ${input.attributes.length}.`,
      parameters: { numTarget: String(names.length), numExpr: String(input.attributes.length) },
    });
  }
  return project(
    analysis,
    input,
    input.attributes.map((attribute, index) => ({ value: exactColumn(attribute), name: names[index] ?? attribute.field.name })),
  );
}

export function analyzeDistinct(columns: readonly string[] | undefined, input: Analyzed): Analyzed {
  if (columns === undefined) requireDistinctRows(input.attributes.map(({ field }) => field));
  const keys = columns?.map((name) => attributeNamed(name, input).id);
  return { kind: 'distinct', keys, input, attributes: input.attributes };
}

/** @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION`. */
export function attributeNamed(name: string, input: Analyzed): Attribute {
  const found = input.attributes.find(({ field }) => field.name.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw unresolvedColumn([name], scopesOf(input.attributes));
  return found;
}

/** As `project`, for outputs that may be generators. Their columns have no names for the other outputs. */
async function projectGenerated(analysis: Analysis, input: Analyzed, wanted: readonly WantedOutput[]): Promise<Analyzed> {
  const generated = await withGenerators(analysis, input, wanted);
  return project(analysis, generated.input, generated.wanted, input);
}

/** Projects; ids of columns that stay as they are do not change. `visible`: the columns that outputs may name; default all. */
export async function project(
  analysis: Analysis,
  input: Analyzed,
  wanted: readonly WantedOutput[],
  visible: Nameable = input,
): Promise<Analyzed> {
  const outputs = await typedOutputs(analysis, input, { bound: await boundOutputs(analysis, visible, wanted, { made: input }) });
  return { kind: 'project', outputs, input, attributes: outputs.map(({ attribute }) => attribute) };
}

async function boundOrAbsent(analysis: Analysis, column: Expression, input: Analyzed): Promise<Attribute | undefined> {
  try {
    return plainAttribute(await analysis.bind(column, input), input);
  } catch (error) {
    if (error instanceof AnalysisException && /^(UNRESOLVED_COLUMN|MISSING_ATTRIBUTES)/.test(error.errorClass)) return undefined;
    throw error;
  }
}
