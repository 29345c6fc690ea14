import type { DataType } from '../../schema/types.ts';
import { bindOnce } from '../functions/bind-once.ts';
import { isIntegral } from './cast-sql.ts';
import { sqlText, typeSql } from './engine-text.ts';
import { textFunctions } from './text-functions.ts';

type DecimalType = Extract<DataType, { kind: 'decimal' }>;

/** A side of an operator: a decimal or a whole number. */
export interface DecimalOperand {
  readonly sql: string;
  readonly type: DataType;
}

const maxPrecision = 38;

/** An operation that the engine would round, or that leaves its 38 digits on the way: exact, then rounded as Spark rounds. */
export function exactSql(
  operator: string,
  [left, right]: readonly [DecimalOperand, DecimalOperand],
  type: DecimalType,
  cast: 'CAST' | 'TRY_CAST' = 'CAST',
): string {
  if (operator === '/' && fits(left, right, type)) return quotientSql([left, right], type, cast);
  const [one, other] = [left, right].map(({ sql }) => `CAST(${sql} AS VARCHAR)`);
  const rule = `${operator}${cast === 'CAST' ? type.precision : ''},${type.scale}`;
  return `${cast}(${textFunctions.decimalMath}(${one}, ${other}, ${sqlText(rule)}) AS ${typeSql(type)})`;
}

/** Decimal digits behind the point that the dividend needs beside its own. */
function shiftOf(left: DataType, right: DataType, scale: number): number {
  return scale - scaleOf(left) + scaleOf(right);
}

function scaleOf(type: DataType): number {
  return type.kind === 'decimal' ? type.scale : 0;
}

function precisionOf(type: DataType): number {
  return type.kind === 'decimal' ? type.precision : 19;
}

/** Whether whole numbers of the engine hold all that is computed. */
function fits(left: DecimalOperand, right: DecimalOperand, type: DecimalType): boolean {
  const shift = shiftOf(left.type, right.type, type.scale);
  const isSmall = ({ type: given }: DecimalOperand): boolean => precisionOf(given) + scaleOf(given) < maxPrecision;
  return shift >= 0 && isSmall(left) && isSmall(right) && precisionOf(left.type) + shift < maxPrecision && precisionOf(right.type) < 37;
}

function quotientSql([left, right]: readonly [DecimalOperand, DecimalOperand], type: DecimalType, cast: 'CAST' | 'TRY_CAST'): string {
  const shift = `CAST('1${'0'.repeat(shiftOf(left.type, right.type, type.scale))}' AS HUGEINT)`;
  return bindOnce(`${unscaledSql(left)} * ${shift}`, '__top', (top) =>
    bindOnce(unscaledSql(right), '__bottom', (bottom) => {
      const rounded = `((2 * abs(${top}) + abs(${bottom})) // (2 * abs(${bottom})))`;
      const signed = `CASE WHEN ${bottom} = 0 THEN NULL WHEN (${top} < 0) = (${bottom} < 0) THEN ${rounded} ELSE -${rounded} END`;
      const scaled = type.scale === 0 ? '' : ` * CAST('0.${'1'.padStart(type.scale, '0')}' AS DECIMAL(${type.scale},${type.scale}))`;
      return `${cast}(CAST(${signed} AS DECIMAL(38,0))${scaled} AS ${typeSql(type)})`;
    }),
  );
}

function unscaledSql({ sql, type }: DecimalOperand): string {
  if (isIntegral(type) || scaleOf(type) === 0) return `CAST(${sql} AS HUGEINT)`;
  return `CAST(${sql} * CAST('1${'0'.repeat(scaleOf(type))}' AS DECIMAL(${scaleOf(type) + 1},0)) AS HUGEINT)`;
}
