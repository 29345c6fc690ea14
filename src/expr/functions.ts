import { AnalysisException } from '../base/analysis-exception.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { CallExpression, FunctionSpec, FunctionTable } from './function-spec.ts';
import { aggregateFunctions } from './functions/aggregate-functions.ts';
import { arithmeticFunctions } from './functions/arithmetic-functions.ts';
import { bitFunctions } from './functions/bit-functions.ts';
import { calendarFunctions } from './functions/calendar-functions.ts';
import { collectionFunctions } from './functions/collection-functions.ts';
import { conditionalFunctions } from './functions/conditional-functions.ts';
import { jsonFunctions } from './functions/json-functions.ts';
import { listFunctions } from './functions/list-functions.ts';
import { mapFunctions } from './functions/map-functions.ts';
import { numberFunctions } from './functions/number-functions.ts';
import { patternFunctions } from './functions/pattern-functions.ts';
import { roundingFunctions } from './functions/rounding-functions.ts';
import { stringFunctions } from './functions/string-functions.ts';
import { timeFunctions } from './functions/time-functions.ts';
import { variantFunctionTable } from './functions/variant-functions.ts';

const table: FunctionTable = {
  ...conditionalFunctions,
  ...numberFunctions,
  ...roundingFunctions,
  ...bitFunctions,
  ...arithmeticFunctions,
  ...stringFunctions,
  ...patternFunctions,
  ...timeFunctions,
  ...calendarFunctions,
  ...collectionFunctions,
  ...listFunctions,
  ...mapFunctions,
  ...jsonFunctions,
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
  if (spec.refused !== undefined) {
    throw new AnalysisException({
      errorClass: 'UNSUPPORTED_FUNCTION',
      sqlState: '0A000',
      kind: 'unsupported',
      message: `the function \`${call.name}\` is not supported here: ${spec.refused}`,
      parameters: { functionName: call.name },
    });
  }
  const count = call.star === true ? 1 : call.arguments.length;
  if (count < spec.least || count > spec.most) throw wrongCount(call.name, spec, count);
  if (spec.kind === 'window' && call.over === undefined) {
    throw new AnalysisException({
      errorClass: 'MISSING_WINDOW_SPECIFICATION',
      sqlState: '42P20',
      message: `the window function \`${call.name}\` needs OVER`,
      parameters: { functionName: call.name },
    });
  }
  return spec;
}

function unresolved(name: string): AnalysisException {
  const nearest = nearestName(name, functionNames);
  const shown = `\`${name.replaceAll('`', '``')}\``;
  return new AnalysisException({
    errorClass: 'UNRESOLVED_ROUTINE',
    sqlState: '42883',
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
    sqlState: '42605',
    message: `The \`${name}\` requires ${expected} parameters but the actual number is ${count}.`,
    parameters: { functionName: `\`${name}\``, expectedNum: expected, actualNum: String(count) },
  });
}
