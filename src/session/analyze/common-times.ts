import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { commonOf } from '../../expr/functions/common-argument.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { DataType } from '../../schema/types.ts';

/*
 * Dates and local times beside instants, in one column of rows that are written down: they become instants of the session's
 * zone. Where that is UTC, the engine does it.
 */

/** Rows of values, those of a column alike. */
export function rowsInTimes(rows: readonly (readonly Expression[])[], zone: ZoneRule): readonly (readonly Expression[])[] {
  if (zone === undefined) return rows;
  const types = (rows[0] ?? []).map((_, index) => instantAmong(rows.flatMap((row) => knownType(row[index]))));
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

function instantAmong(types: readonly (DataType | undefined)[]): DataType | undefined {
  const common = commonOf(types);
  return common?.kind === 'timestamp' && types.some((type) => type?.kind !== 'timestamp') ? common : undefined;
}
