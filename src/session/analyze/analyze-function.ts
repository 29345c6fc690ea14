import { AnalysisException } from '../../base/analysis-exception.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { Expression } from '../../expr/expression.ts';
import { isGenerator } from '../../expr/generators.ts';
import { asRowMaker } from '../../expr/parse/parse-call.ts';
import { TokenStream } from '../../expr/parse/token-stream.ts';
import type { Analyzed } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import type { Analysis } from './analysis.ts';
import { generated } from './analyze-generators.ts';
import { analyzeChanges } from './analyze-named.ts';
import { sourceAttributes } from './outputs.ts';
import { changePoint } from './travel.ts';

type FunctionPlan = Plan & { readonly kind: 'function' };

const known = ['range', 'explode', 'posexplode', 'inline', 'stack', 'json_tuple', 'table_changes', 'table_changes_by_path'] as const;

/** The rows of a function in FROM. @throws AnalysisException `UNRESOLVABLE_TABLE_VALUED_FUNCTION` 42883 with the nearest name. */
export async function analyzeFunction(analysis: Analysis, plan: FunctionPlan): Promise<Analyzed> {
  const name = plan.name.toLowerCase();
  if (name === 'range') return analyzeRange(analysis, plan);
  if (name === 'table_changes' || name === 'table_changes_by_path') return analyzeTableChanges(analysis, plan, name);
  const call = asRowMaker({ kind: 'call', name: plan.name, arguments: plan.arguments });
  if (isGenerator(call)) {
    // What stands to the left of it is what it is about.
    const [visible, ...outer] = analysis.scope.outer;
    return generated(analysis.within({ outer }), { kind: 'one-row', attributes: [] }, { call, outer: false, names: [], visible });
  }
  const nearest = nearestName(name, known);
  throw new AnalysisException({
    errorClass: 'UNRESOLVABLE_TABLE_VALUED_FUNCTION',
    message: `Could not resolve \`${plan.name}\` to a table-valued function (line ${plan.at.line}, column ${plan.at.column}).`,
    hint: nearest === undefined ? `there are ${known.join(', ')}` : `did you mean ${nearest}?`,
    parameters: { name: `\`${plan.name}\`` },
  });
}

async function analyzeRange(analysis: Analysis, plan: FunctionPlan): Promise<Analyzed> {
  // The fourth is a number of partitions, which rows do not have.
  if (plan.arguments.length < 1 || plan.arguments.length > 4) throw wrongArguments(plan, '1 to 4');
  const bounds: Expression[] = [];
  for (const argument of plan.arguments.slice(0, 3)) bounds.push(await analysis.within({ outer: [] }).bind(argument, { attributes: [] }));
  return {
    kind: 'range',
    bounds,
    attributes: sourceAttributes(analysis.execution, [{ name: 'id', type: { kind: 'long' }, nullable: false }]),
  };
}

async function analyzeTableChanges(analysis: Analysis, plan: FunctionPlan, name: string): Promise<Analyzed> {
  const [table, start, end, ...others] = plan.arguments;
  if (table === undefined || start === undefined || others.length > 0)
    throw wrongArguments(plan, '2 or 3', 'INCORRECT_NUMBER_OF_ARGUMENTS');
  const text = nameText(analysis, table, plan);
  const parts = name === 'table_changes' ? new TokenStream(text).expectNameParts('a table') : ['delta', text];
  const from = await changePoint(analysis, start);
  return analyzeChanges(analysis, parts, { start: from, end: end === undefined ? undefined : await changePoint(analysis, end) });
}

function nameText(analysis: Analysis, table: Expression, plan: FunctionPlan): string {
  const prepared = analysis.prepared(table);
  if (prepared.kind === 'literal' && prepared.literal.type === 'string') return prepared.literal.value;
  if (prepared.kind === 'column') return prepared.path.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');
  throw wrongArguments(plan, 'the name of a table, a first and perhaps a last version or time');
}

function wrongArguments(plan: FunctionPlan, expected: string, errorClass = 'WRONG_NUM_ARGS.WITHOUT_SUGGESTION'): AnalysisException {
  return new AnalysisException({
    errorClass,
    message: `The \`${plan.name}\` requires ${expected} parameters but the actual number is ${plan.arguments.length} (line ${plan.at.line}, column ${plan.at.column}).`,
    parameters: { functionName: `\`${plan.name}\`` },
  });
}
