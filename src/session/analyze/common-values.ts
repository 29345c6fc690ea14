import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { commonOf } from '../../expr/functions/common-argument.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { DataType } from '../../schema/types.ts';

/*
 * Values of several types in one column of rows that are written down, where the engine would choose another type: dates and local times beside
 * instants are instants of the session's zone, FLOATs beside fractions DOUBLEs (beside whole numbers FLOATs, in Spark too).
 */

/** Rows of values, those of a column alike. */
export function rowsOfCommonTypes(rows: readonly (readonly Expression[])[], zone: ZoneRule): readonly (readonly Expression[])[] {
  const types = (rows[0] ?? []).map((_, index) =>
    chosenType(
      rows.flatMap((row) => knownType(row[index])),
      zone,
    ),
  );
  if (types.every((type) => type === undefined)) return rows;
  return rows.map((row) =>
    row.map((operand, index) => {
      const type = types[index];
      return type === undefined ? operand : { kind: 'cast', operand, type, safe: false, zone };
    }),
  );
}

function knownType(value: Expression | undefined): readonly (DataType | undefined)[] {
  if (value === undefined || (value.kind === 'literal' && value.literal.type === 'null')) return [];
  return [expressionType(value)];
}

/** `undefined`: all are of one, or the engine finds it. */
function chosenType(types: readonly (DataType | undefined)[], zone: ZoneRule): DataType | undefined {
  const common = commonOf(types);
  const isMixed = common !== undefined && types.some((type) => type?.kind !== common.kind);
  const has = (kind: DataType['kind']): boolean => types.some((type) => type?.kind === kind);
  const isChosen = common?.kind === 'timestamp' ? zone !== undefined : has('float') && (has('decimal') || has('double'));
  return isMixed && isChosen ? common : undefined;
}
