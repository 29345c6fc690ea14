import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import type { DataType } from '../../schema/types.ts';
import { type AnalyzedFrom, addGenerator } from './analyze-from.ts';
import { callName, generatorArgument, isGenerator, refuseNestedGenerator } from './generators.ts';
import { outputName } from './output-name.ts';
import type { FromTools } from './query-tools.ts';
import type { NameScope, VisibleColumn } from './scope.ts';
import type { Select, SelectItem } from './select-tree.ts';

/** A value of a select list, bound. */
export interface SelectOutput {
  readonly name: string;
  readonly value: Expression;
  readonly type: DataType | undefined;
  readonly nullable: boolean;
}

/** The select list with stars spread out; a generator in it joins the rows it makes to the FROM. */
export async function selectOutputs(
  tools: FromTools,
  select: Select,
  from: AnalyzedFrom,
): Promise<{ readonly from: AnalyzedFrom; readonly outputs: readonly SelectOutput[] }> {
  let joined = from;
  const outputs: SelectOutput[] = [];
  for (const item of select.items) {
    if (item.kind === 'star') {
      outputs.push(...(await starOutputs(tools, item, from.scope)));
    } else if (isGenerator(item.value)) {
      const before = joined.scope.visible.length;
      const argument = await tools.expressions.bind(generatorArgument(item.value), from.scope);
      const alias = { name: '', columns: item.names };
      joined = addGenerator(tools, joined, { name: callName(item.value), argument, outer: false, alias });
      outputs.push(...joined.scope.visible.slice(before).map(visibleOutput));
    } else outputs.push(await valueOutput(tools, item, from.scope));
  }
  return { from: joined, outputs };
}

async function valueOutput(tools: FromTools, item: Extract<SelectItem, { kind: 'value' }>, scope: NameScope): Promise<SelectOutput> {
  refuseNestedGenerator(item.value);
  const value = await tools.expressions.bind(item.value, scope);
  const [name] = item.names;
  const nullable = !(value.kind === 'literal' && value.literal.type !== 'null');
  return { name: name ?? outputName(item.value), value, type: expressionType(value), nullable };
}

async function starOutputs(
  tools: FromTools,
  item: Extract<SelectItem, { kind: 'star' }>,
  scope: NameScope,
): Promise<readonly SelectOutput[]> {
  const all = item.qualifier === undefined ? scope.visible.map(visibleOutput) : await qualifiedStar(tools, item.qualifier, scope);
  if (all.length === 0) {
    throw new AnalysisException({
      errorClass: 'INVALID_USAGE_OF_STAR_OR_REGEX',
      sqlState: '42000',
      message: `Invalid usage of '*' in line ${item.at.line}, column ${item.at.column}: there are no columns.`,
    });
  }
  if (item.except.length === 0) return all;
  const except = new Set(item.except.map((name) => name.toLowerCase()));
  const missing = item.except.find((name) => !all.some((output) => output.name.toLowerCase() === name.toLowerCase()));
  if (missing !== undefined) {
    throw new AnalysisException({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      sqlState: '42703',
      message: `A column with name \`${missing}\` cannot be resolved in EXCEPT.`,
      parameters: { objectName: `\`${missing}\`` },
    });
  }
  return all.filter((output) => !except.has(output.name.toLowerCase()));
}

/** `t.*` of a relation, or `column.*` of a struct. */
async function qualifiedStar(tools: FromTools, qualifier: readonly string[], scope: NameScope): Promise<readonly SelectOutput[]> {
  const name = qualifier.at(-1) ?? '';
  const entries = scope.entries.filter((entry) => entry.alias?.toLowerCase() === name.toLowerCase());
  if (entries.length > 0) {
    return entries.flatMap((entry) =>
      entry.columns.map(({ field, sqlName }): SelectOutput => {
        const value: Expression = { kind: 'column', path: [sqlName], qualifier: entry.id, type: field.type };
        return { name: field.name, value, type: field.type, nullable: field.nullable };
      }),
    );
  }
  const struct = await tools.expressions.bind({ kind: 'column', path: qualifier }, scope);
  const type = expressionType(struct);
  if (type?.kind !== 'struct') {
    throw new AnalysisException({
      errorClass: 'CANNOT_RESOLVE_STAR_EXPAND',
      sqlState: '42704',
      message: `Cannot resolve ${qualifier.map((part) => `\`${part}\``).join('.')}.* given input columns.`,
    });
  }
  return type.fields.map((field) => ({
    name: field.name,
    value: { kind: 'member', operand: struct, name: field.name } as const,
    type: field.type,
    nullable: true,
  }));
}

function visibleOutput(column: VisibleColumn): SelectOutput {
  return { name: column.field.name, value: column.value, type: column.field.type, nullable: column.field.nullable };
}
