import { AnalysisException } from '../../base/analysis-exception.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import type { Expression } from '../../expr/expression.ts';
import { withGenerators } from './analyze-generators.ts';
import { type Analyzed, type Attribute, attributeColumn, type Nameable } from './analyzed.ts';
import { bindTo, plainAttribute, scopesOf } from './bind.ts';
import { exactColumn, exactId } from './exact-column.ts';
import type { Execution } from './execution.ts';
import { newAttribute, outputsOf, type WantedOutput } from './outputs.ts';
import type { Plan } from './plan.ts';

export async function analyzeSelect(execution: Execution, columns: readonly Expression[], input: Analyzed): Promise<Analyzed> {
  const wanted = columns.flatMap((column) =>
    column.kind === 'star' ? starOutputs(column.qualifier, input.attributes) : [{ value: column }],
  );
  return projectGenerated(execution, input, wanted);
}

export async function analyzeWithColumns(
  execution: Execution,
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
  return projectGenerated(execution, input, [...kept, ...added]);
}

/** Names without such a column are left alone, as Spark does. */
export async function analyzeRename(execution: Execution, names: ReadonlyMap<string, string>, input: Analyzed): Promise<Analyzed> {
  const byName = new Map([...names].map(([from, to]) => [from.toLowerCase(), to]));
  const wanted = input.attributes.map((attribute) => ({
    value: exactColumn(attribute),
    name: byName.get(attribute.field.name.toLowerCase()) ?? attribute.field.name,
  }));
  return project(execution, input, wanted);
}

/** Columns that are not there are no error, as in Spark. */
export async function analyzeDrop(execution: Execution, columns: readonly Expression[], input: Analyzed): Promise<Analyzed> {
  const dropped = new Set<string>();
  for (const column of columns) {
    const name = column.kind === 'column' && column.path.length === 1 ? column.path[0]?.toLowerCase() : undefined;
    if (name !== undefined && !name.startsWith('\u0001')) {
      for (const { id, field } of input.attributes) if (field.name.toLowerCase() === name) dropped.add(id);
    } else {
      const attribute = boundOrAbsent(column, input, execution);
      if (attribute !== undefined) dropped.add(attribute.id);
    }
  }
  const kept = input.attributes.filter(({ id }) => !dropped.has(id));
  return project(
    execution,
    input,
    kept.map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name })),
  );
}

export async function analyzeToNames(execution: Execution, names: readonly string[], input: Analyzed): Promise<Analyzed> {
  if (names.length !== input.attributes.length) {
    throw new AnalysisException({
      errorClass: 'ASSIGNMENT_ARITY_MISMATCH',
      sqlState: '42802',
      message: `The number of columns or variables assigned or aliased: ${names.length} does not match the number of source expressions: ${input.attributes.length}.`,
      parameters: { numTarget: String(names.length), numExpr: String(input.attributes.length) },
    });
  }
  return project(
    execution,
    input,
    input.attributes.map((attribute, index) => ({ value: exactColumn(attribute), name: names[index] ?? attribute.field.name })),
  );
}

export async function analyzeAggregate(
  execution: Execution,
  plan: Plan & { readonly kind: 'aggregate' },
  input: Analyzed,
): Promise<Analyzed> {
  const groups = plan.groups.map((group) => bindTo(withoutAlias(group), input, execution.nowMicros));
  const wanted = [...plan.groups, ...plan.aggregates].map((value) => ({ value }));
  const outputs = await outputsOf(execution, input, wanted, groups);
  return { kind: 'aggregate', groups, outputs, input, attributes: outputs.map(({ attribute }) => attribute) };
}

export function analyzeDistinct(columns: readonly string[] | undefined, input: Analyzed): Analyzed {
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
async function projectGenerated(execution: Execution, input: Analyzed, wanted: readonly WantedOutput[]): Promise<Analyzed> {
  const generated = await withGenerators(execution, input, wanted);
  return project(execution, generated.input, generated.wanted, input);
}

/** Projects; ids of columns that stay as they are do not change. `visible`: the columns that outputs may name; default all. */
export async function project(
  execution: Execution,
  input: Analyzed,
  wanted: readonly WantedOutput[],
  visible: Nameable = input,
): Promise<Analyzed> {
  const exact = wanted.filter(({ value }) => exactId(value) !== undefined);
  if (exact.length === 0) {
    const outputs = await outputsOf(execution, visible, wanted);
    return { kind: 'project', outputs, input, attributes: outputs.map(({ attribute }) => attribute) };
  }
  const others = await outputsOf(
    execution,
    visible,
    wanted.filter(({ value }) => exactId(value) === undefined),
  );
  const queue = [...others];
  const used = new Set<string>(others.map(({ attribute }) => attribute.id));
  const outputs = wanted.flatMap((output) => {
    const attribute = exactId(output.value) !== undefined ? input.attributes.find(({ id }) => id === exactId(output.value)) : undefined;
    if (attribute === undefined) return queue.splice(0, 1);
    const same = (output.name ?? attribute.field.name) === attribute.field.name && !used.has(attribute.id);
    used.add(attribute.id);
    const renamed = { ...attribute.field, name: output.name ?? attribute.field.name };
    return [
      {
        attribute: same ? attribute : newAttribute(execution, renamed.name, renamed, attribute.qualifier),
        value: attributeColumn(attribute),
      },
    ];
  });
  return { kind: 'project', outputs, input, attributes: outputs.map(({ attribute }) => attribute) };
}

function starOutputs(qualifier: string | undefined, attributes: readonly Attribute[]): readonly WantedOutput[] {
  const wanted = qualifier?.toLowerCase();
  const chosen = attributes.filter((attribute) => wanted === undefined || attribute.qualifier?.toLowerCase() === wanted);
  if (chosen.length === 0 && qualifier !== undefined) return memberOutputs(qualifier, attributes);
  return chosen.map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name }));
}

/** `s.*` of a struct column: its members. */
function memberOutputs(name: string, attributes: readonly Attribute[]): readonly WantedOutput[] {
  const struct = attributes.find(({ field }) => field.name.toLowerCase() === name.toLowerCase());
  if (struct?.field.type.kind !== 'struct') throw unresolvedColumn([name, '*'], scopesOf(attributes));
  return struct.field.type.fields.map((member) => ({
    value: { kind: 'column', path: [struct.field.name, member.name] },
    name: member.name,
  }));
}

function boundOrAbsent(column: Expression, input: Analyzed, execution: Execution): Attribute | undefined {
  try {
    return plainAttribute(bindTo(column, input, execution.nowMicros), input);
  } catch (error) {
    if (error instanceof AnalysisException && /^(UNRESOLVED_COLUMN|MISSING_ATTRIBUTES)/.test(error.errorClass)) return undefined;
    throw error;
  }
}

function withoutAlias(expression: Expression): Expression {
  return expression.kind === 'alias' ? expression.operand : expression;
}
