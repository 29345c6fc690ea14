import { AnalysisException } from '../../base/analysis-exception.ts';
import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  literalText,
} from '../function-spec.ts';
import { sqlText, typeSql } from '../sql/engine-text.ts';
import { maxPrecision } from '../wider-number.ts';
import { bindOnce } from './bind-once.ts';

/*
 * Numbers that are read from texts by a pattern such as `$99,999.00S`: 0 and 9 are digits, G or a comma parts thousands, D or a point the
 * fraction; S, MI and PR tell the sign.
 */

const form = /^(?<before>MI|S)?(?<dollar>\$)?(?<whole>[09G,]*)(?:[.D](?<fraction>[09]*))?(?<dollarBehind>\$)?(?<behind>PR|MI|S)?$/;

/** What a pattern must not be, in the order in which it is asked. */
const faults: readonly (readonly [errorClass: string, test: RegExp])[] = [
  ['EMPTY', /^$/],
  ['WRONG_NUM_DIGIT', /^[^09]*$/],
  ['WRONG_NUM_TOKEN', /[.D].*[.D]|\$.*\$|S.*S|MI.*MI|PR.*PR/],
  ['THOUSANDS_SEPS_MUST_BEFORE_DEC', /[.D].*[,G]/],
  ['CONT_THOUSANDS_SEPS', /[,G](?![09])|(?<![09])[,G]/],
];

interface NumberPattern {
  /** What texts of the pattern fit, blanks left out. */
  readonly expression: string;
  readonly type: Extract<DataType, { kind: 'decimal' }>;
}

/** @throws AnalysisException `INVALID_FORMAT.…` 42601, `DATATYPE_MISMATCH.NON_FOLDABLE_INPUT` 42K09 for a pattern that is not written. */
function patternOf(call: CallExpression): NumberPattern | undefined {
  const given = call.arguments[1];
  if (given?.kind === 'literal' && given.literal.type === 'null') return undefined;
  const pattern = literalText(call, 1)?.toUpperCase();
  if (pattern === undefined) throw notWritten(call);
  const parts = form.exec(pattern)?.groups;
  const fault = faults.find(([, test]) => test.test(pattern))?.[0] ?? (parts === undefined ? 'UNEXPECTED_TOKEN' : undefined);
  if (fault !== undefined) throw invalidFormat(pattern, fault);
  const { before, dollar, whole = '', fraction = '', dollarBehind, behind } = parts ?? {};
  const body = [
    dollar === undefined ? '' : '\\$',
    wholeExpression(whole.split(/[G,]/)),
    /[.D]/.test(pattern) ? `(\\.[0-9]{0,${fraction.length}})?` : '',
    dollarBehind === undefined ? '' : '\\$',
  ].join('');
  const expression = behind === 'PR' ? `<${body}>|${body}` : signExpression(before) + body + signExpression(behind);
  const digits = whole.replaceAll(/[G,]/g, '').length + fraction.length;
  if (digits > maxPrecision) throw tooPrecise(digits);
  return { expression, type: { kind: 'decimal', precision: digits, scale: fraction.length } };
}

/** Digits that begin with 0 are all there; of others there may be fewer, and their first groups absent with what parts them. */
function wholeExpression(groups: readonly string[]): string {
  const isExact = groups[0]?.startsWith('0') === true;
  return groups.reduce((read, group, place) => {
    const digits = `[0-9]{${group.startsWith('0') ? '' : '0,'}${group.length}}`;
    return place === 0 ? digits : `${isExact ? `${read},` : `(${read},)?`}${digits}`;
  }, '');
}

function signExpression(sign: string | undefined): string {
  return sign === 'S' ? '[+-]?' : sign === 'MI' ? '-?' : '';
}

/** A value in any text that fits, else what is given of the text. */
function reading(otherwise: (text: string, pattern: string) => string): FunctionSpec {
  const sql = (engineCall: EngineCall): string => {
    const { call } = engineCall;
    const pattern = patternOf(call);
    if (pattern === undefined) return 'CAST(NULL AS DECIMAL(10,0))';
    return bindOnce(argument(engineCall, 0), '__text', (text) => {
      const plain = `replace(${text}, ' ', '')`;
      const fits = `regexp_full_match(${plain}, ${sqlText(pattern.expression)}) AND regexp_matches(${plain}, '[0-9]')`;
      const sign = `CASE WHEN regexp_matches(${plain}, '[-<]') THEN '-0' ELSE '0' END`;
      const value = `CAST(${sign} || regexp_replace(${plain}, '[^0-9.]', '', 'g') AS ${typeSql(pattern.type)})`;
      return `CASE WHEN ${fits} THEN ${value} WHEN ${text} IS NOT NULL THEN ${otherwise(text, literalText(call, 1) ?? '')} END`;
    });
  };
  return built(['string', 'any'], sql, (_, call) => patternOf(call)?.type ?? { kind: 'decimal', precision: 10, scale: 0 });
}

function invalidFormat(pattern: string, fault: string): AnalysisException {
  return new AnalysisException({
    errorClass: `INVALID_FORMAT.${fault}`,
    message: `The format is invalid: '${pattern}'.`,
    hint: 'a pattern is [MI|S] [$] [0|9|G|,]* [.|D] [0|9]* [$] [PR|MI|S], with a digit at least',
    parameters: { format: `'${pattern}'` },
  });
}

function notWritten(call: CallExpression): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.NON_FOLDABLE_INPUT',
    message: `Cannot resolve "${call.name}": the format is a text that is written, no column.`,
    parameters: { inputName: '`format`' },
  });
}

function tooPrecise(digits: number): AnalysisException {
  return new AnalysisException({
    errorClass: 'DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION',
    message: `Decimal precision ${digits} exceeds max precision ${maxPrecision}.`,
    parameters: { precision: String(digits), maxPrecision: String(maxPrecision) },
  });
}

/** Functions that read numbers by a pattern. */
export const numberTextFunctions: FunctionTable = {
  to_number: reading((text, pattern) => {
    const message = `[INVALID_FORMAT.MISMATCH_INPUT] The format is invalid: ${pattern}. The input "STRING" `;
    return `error(${sqlText(message)} || ${text} || ' does not match the format.')`;
  }),
  try_to_number: reading(() => 'NULL'),
};
