import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { callName, generate, generatorArgument, isGenerator, refuseNestedGenerator } from '../../expr/generators.ts';
import type { Analyzed, Nameable } from '../plan/analyzed.ts';
import { exactColumn } from '../plan/exact-column.ts';
import type { Plan } from '../plan/plan.ts';
import type { Analysis } from './analysis.ts';
import { newAttribute, outputsOf, type WantedOutput } from './outputs.ts';

/** Outputs without generators, over an input that has the rows they make. */
export interface GeneratedInput {
  readonly input: Analyzed;
  readonly wanted: readonly WantedOutput[];
}

interface GeneratorUse {
  readonly call: Expression;
  readonly outer: boolean;
  /** Of the columns it makes; none: their own. */
  readonly names: readonly string[];
  readonly qualifier?: string | undefined;
  /** The columns that its argument may name. Default: those of the input. */
  readonly visible?: Nameable | undefined;
}

/**
 * Takes the generators (`explode` and its like) out of a select list: each joins the rows it makes to those before.
 *
 * @throws AnalysisException `UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS` 42K0E, `UDTF_ALIAS_NUMBER_MISMATCH` 42802,
 * `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` 42K09.
 */
export async function withGenerators(analysis: Analysis, input: Analyzed, wanted: readonly WantedOutput[]): Promise<GeneratedInput> {
  let joined = input;
  const outputs: WantedOutput[] = [];
  for (const output of wanted) {
    const { value, names } = named(output);
    if (!isGenerator(value)) {
      refuseNestedGenerator(value);
      outputs.push(output);
      continue;
    }
    const before = joined.attributes.length;
    joined = await generated(analysis, joined, { call: value, outer: false, names, visible: input });
    outputs.push(...joined.attributes.slice(before).map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name })));
  }
  return { input: joined, wanted: outputs };
}

export function analyzeLateralView(analysis: Analysis, plan: Plan & { readonly kind: 'generate' }, input: Analyzed): Promise<Analyzed> {
  const { call, outer, columns, name } = plan;
  return generated(analysis, input, { call, outer, names: columns, qualifier: name });
}

/** Joins each row with the rows a generator makes of it. */
export async function generated(analysis: Analysis, input: Analyzed, use: GeneratorUse): Promise<Analyzed> {
  const { call, outer, names, qualifier, visible = input } = use;
  const name = callName(call);
  const argument = await boundArgument(analysis, visible, generatorArgument(call));
  const { fields } = generate(name, argument, { sql: '', outer });
  if (names.length > 0 && names.length !== fields.length) throw wrongNames(names, fields.length);
  const made = fields.map((field, index) => newAttribute(analysis.execution, names[index] ?? field.name, field, qualifier));
  return { kind: 'generate', name, argument, outer, made, input, attributes: [...input.attributes, ...made], hidden: input.hidden };
}

function named({ name, value }: WantedOutput): { readonly value: Expression; readonly names: readonly string[] } {
  const inner = value.kind === 'alias' ? value.operand : value;
  if (name !== undefined) return { value: inner, names: [name] };
  return { value: inner, names: value.kind === 'alias' ? [value.name, ...(value.otherNames ?? [])] : [] };
}

/** The argument over the input; one whose type only the engine knows gets it by a cast. */
async function boundArgument(analysis: Analysis, input: Nameable, argument: Expression): Promise<Expression> {
  const [output] = await outputsOf(analysis, input, [{ value: argument }]);
  if (output === undefined || expressionType(output.value) !== undefined) return output?.value ?? argument;
  return { kind: 'cast', operand: output.value, type: output.attribute.field.type, safe: false };
}

function wrongNames(names: readonly string[], expected: number): AnalysisException {
  return new AnalysisException({
    errorClass: 'UDTF_ALIAS_NUMBER_MISMATCH',
    message: `The number of aliases supplied in the AS clause does not match the number of columns output by the UDTF. Expected ${expected} aliases, but got ${names.join(',')}. Please ensure that the number of aliases provided matches the number of columns output by the UDTF.`,
    parameters: { aliasesSize: String(expected), aliasesNames: names.join(',') },
  });
}
