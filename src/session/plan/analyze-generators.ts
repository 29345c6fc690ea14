import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { callName, generate, generatorArgument, isGenerator, refuseNestedGenerator } from '../query/generators.ts';
import type { Analyzed } from './analyzed.ts';
import { exactColumn } from './exact-column.ts';
import type { Execution } from './execution.ts';
import { newAttribute, outputsOf, type WantedOutput } from './outputs.ts';

/** Outputs without generators, over an input that has the rows they make. */
export interface GeneratedInput {
  readonly input: Analyzed;
  readonly wanted: readonly WantedOutput[];
}

/**
 * Takes the generators (`explode` and its like) out of a select list: each joins the rows it makes to those before.
 *
 * @throws AnalysisException `UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS` 42K0E, `UDTF_ALIAS_NUMBER_MISMATCH` 42802,
 * `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` 42K09.
 */
export async function withGenerators(execution: Execution, input: Analyzed, wanted: readonly WantedOutput[]): Promise<GeneratedInput> {
  let joined = input;
  const outputs: WantedOutput[] = [];
  for (const output of wanted) {
    const { value, names } = named(output);
    if (!isGenerator(value)) {
      refuseNestedGenerator(value);
      outputs.push(output);
      continue;
    }
    const name = callName(value);
    const argument = await boundArgument(execution, input, generatorArgument(value));
    const { fields } = generate(name, argument, { sql: '', outer: false });
    if (names.length > 0 && names.length !== fields.length) throw wrongNames(names, fields.length);
    const made = fields.map((field, index) => newAttribute(execution, names[index] ?? field.name, field));
    joined = { kind: 'generate', name, argument, made, input: joined, attributes: [...joined.attributes, ...made] };
    outputs.push(...made.map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name })));
  }
  return { input: joined, wanted: outputs };
}

function named({ name, value }: WantedOutput): { readonly value: Expression; readonly names: readonly string[] } {
  const inner = value.kind === 'alias' ? value.operand : value;
  if (name !== undefined) return { value: inner, names: [name] };
  return { value: inner, names: value.kind === 'alias' ? [value.name, ...(value.otherNames ?? [])] : [] };
}

/** The argument over the input; one whose type only the engine knows gets it by a cast. */
async function boundArgument(execution: Execution, input: Analyzed, argument: Expression): Promise<Expression> {
  const [output] = await outputsOf(execution, input, [{ value: argument }]);
  if (output === undefined || expressionType(output.value) !== undefined) return output?.value ?? argument;
  return { kind: 'cast', operand: output.value, type: output.attribute.field.type, safe: false };
}

function wrongNames(names: readonly string[], expected: number): AnalysisException {
  return new AnalysisException({
    errorClass: 'UDTF_ALIAS_NUMBER_MISMATCH',
    sqlState: '42802',
    message: `The number of aliases supplied in the AS clause does not match the number of columns output by the UDTF. Expected ${expected} aliases, but got ${names.join(',')}. Please ensure that the number of aliases provided matches the number of columns output by the UDTF.`,
    parameters: { aliasesSize: String(expected), aliasesNames: names.join(',') },
  });
}
