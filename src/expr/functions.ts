import { AnalysisException } from '../base/analysis-exception.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { CallExpression, FunctionSpec, FunctionTable } from './function-spec.ts';
import { aggregateFunctions } from './functions/aggregate-functions.ts';
import { arithmeticFunctions } from './functions/arithmetic-functions.ts';
import { bitFunctions } from './functions/bit-functions.ts';
import { calendarFunctions } from './functions/calendar-functions.ts';
import { codeFunctions } from './functions/code-functions.ts';
import { collectionFunctions } from './functions/collection-functions.ts';
import { conditionalFunctions } from './functions/conditional-functions.ts';
import { hashFunctionTable } from './functions/hash-functions.ts';
import { jsonFunctions } from './functions/json-functions.ts';
import { listFunctions } from './functions/list-functions.ts';
import { mapFunctions } from './functions/map-functions.ts';
import { numberFunctions } from './functions/number-functions.ts';
import { numberTextFunctions } from './functions/number-texts.ts';
import { patternFunctions } from './functions/pattern-functions.ts';
import { randomFunctions } from './functions/random-functions.ts';
import { roundingFunctions } from './functions/rounding-functions.ts';
import { stringFunctions } from './functions/string-functions.ts';
import { timeFunctions } from './functions/time-functions.ts';
import { transformFunctions } from './functions/transform-functions.ts';
import { variantFunctionTable } from './functions/variant-functions.ts';
import { zoneFunctions } from './functions/zone-functions.ts';

const table: FunctionTable = {
  ...conditionalFunctions,
  ...numberFunctions,
  ...numberTextFunctions,
  ...roundingFunctions,
  ...randomFunctions,
  ...bitFunctions,
  ...arithmeticFunctions,
  ...stringFunctions,
  ...patternFunctions,
  ...codeFunctions,
  ...hashFunctionTable,
  ...timeFunctions,
  ...calendarFunctions,
  ...zoneFunctions,
  ...collectionFunctions,
  ...listFunctions,
  ...mapFunctions,
  ...jsonFunctions,
  ...transformFunctions,
  ...variantFunctionTable,
  ...aggregateFunctions,
};

/** All functions, refused ones left out, in the order of the alphabet. */
export const functionNames: readonly string[] = Object.keys(table)
  .filter((name) => table[name]?.refused === undefined)
  .toSorted();

/** The function of a name, without regard to case. */
export function findFunction(name: string): FunctionSpec | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/**
 * The function of a call.
 *
 * @throws AnalysisException `UNRESOLVED_ROUTINE` 42883 with the nearest name as the hint, `WRONG_NUM_ARGS.WITHOUT_SUGGESTION` 42605,
 * `UNSUPPORTED_FUNCTION` 0A000 with the reason.
 */
export function checkCall(call: CallExpression): FunctionSpec {
  const spec = findFunction(call.name);
  if (spec === undefined) throw unresolved(call.name);
  const count = call.star === true ? 1 : call.arguments.length;
  const reason = spec.refused ?? spec.refusedWith?.(count);
  if (reason !== undefined) {
    throw new AnalysisException({
      errorClass: spec.refusalClass ?? 'UNSUPPORTED_FUNCTION',
      kind: 'unsupported',
      message: `the function \`${call.name}\` is not supported here: ${reason}`,
      parameters: { functionName: call.name },
    });
  }
  if (count < spec.least || count > spec.most) throw wrongCount(call.name, spec, count);
  if (spec.kind === 'window') requireWindow(call);
  return spec;
}

/** Functions of windows that have a first row whatever order the rows are in. */
const ofAnyOrder: ReadonlySet<string> = new Set(['first_value', 'last_value', 'nth_value']);

function requireWindow({ name, over }: CallExpression): void {
  if (over === undefined) {
    throw new AnalysisException({
      errorClass: 'WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE',
      message: `Window function \`${name}\` requires an OVER clause.`,
      parameters: { funcName: `\`${name}\`` },
    });
  }
  if (over.orderBy.length > 0 || ofAnyOrder.has(name.toLowerCase())) return;
  throw new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_1037',
    message: `Window function ${name}() requires window to be ordered, please add ORDER BY clause.`,
    hint: `${name}() OVER (PARTITION BY … ORDER BY …)`,
  });
}

function unresolved(name: string): AnalysisException {
  const nearest = nearestName(name, functionNames);
  const shown = `\`${name.replaceAll('`', '``')}\``;
  return new AnalysisException({
    errorClass: 'UNRESOLVED_ROUTINE',
    message: `Cannot resolve routine ${shown} on search path [\`system\`.\`builtin\`, \`system\`.\`session\`].`,
    hint: nearest === undefined ? undefined : `did you mean ${nearest}?`,
    parameters: { routineName: shown },
  });
}

function wrongCount(name: string, spec: FunctionSpec, count: number): AnalysisException {
  const expected =
    spec.least === spec.most
      ? String(spec.least)
      : spec.most === Number.POSITIVE_INFINITY
        ? `> ${spec.least - 1}`
        : `[${spec.least}, ${spec.most}]`;
  return new AnalysisException({
    errorClass: 'WRONG_NUM_ARGS.WITHOUT_SUGGESTION',
    message: `The \`${name}\` requires ${expected} parameters but the actual number is ${count}.`,
    parameters: { functionName: `\`${name}\``, expectedNum: expected, actualNum: String(count) },
  });
}
