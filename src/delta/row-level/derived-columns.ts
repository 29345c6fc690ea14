import type { Expression } from '../../expr/expression.ts';
import type { StatementTime } from '../../expr/time-zone.ts';
import type { DerivedColumn } from '../../rows/change/rewrite-sql.ts';
import { RowScope } from '../../rows/change/row-scope.ts';
import type { StructType } from '../../schema/types.ts';
import { storedExpression } from '../files/stored-expression.ts';

/**
 * Generated columns of a table, to be computed again where what they come from changes.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_STORED_EXPRESSION` (unsupported).
 */
export function derivedColumns(table: string, schema: StructType, now: StatementTime): readonly DerivedColumn[] {
  return schema.fields.flatMap((field): readonly DerivedColumn[] => {
    const text = field.metadata?.['delta.generationExpression'];
    if (typeof text !== 'string') return [];
    const operand = storedExpression(table, `generated column "${field.name}"`, text);
    const value: Expression = { kind: 'cast', operand, type: field.type, safe: false };
    const sql = (columnSql: (name: string) => string): string => {
      const scope = new RowScope([{ alias: undefined, schema, columnSql }], now);
      return scope.sql(scope.bind(value));
    };
    return [{ name: field.name, sql }];
  });
}
