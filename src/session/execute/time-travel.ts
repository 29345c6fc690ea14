import { bindExpression } from '../../expr/bind-expression.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { expressionSql } from '../../expr/sql/engine-sql.ts';
import { fixedNow } from '../commands/row-commands.ts';
import { columnSql } from '../plan/column-sql.ts';
import type { ReadPoint } from '../plan/plan.ts';
import { timestampPoint } from '../read/read-options.ts';
import type { TimeTravel } from '../statements/statement.ts';
import type { StatementContext } from './statement-context.ts';

/** The version a statement asks for. @throws AnalysisException `DELTA_TIMESTAMP_INVALID`, `DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE`. */
export async function readPointFor(context: StatementContext, asOf: TimeTravel | undefined): Promise<ReadPoint | undefined> {
  if (asOf === undefined) return undefined;
  if (asOf.kind === 'version') return { kind: 'version', version: asOf.version };
  const expression = bindExpression(fixedNow(context, asOf.timestamp), []);
  if (expression.kind === 'literal' && expression.literal.type === 'string') return timestampPoint(expression.literal.value);
  const text = printExpression(expression);
  if (expression.kind === 'literal' && expression.literal.type === 'timestamp')
    return { kind: 'timestamp', micros: expression.literal.micros, text };
  const engine = await context.runtime.openEngine();
  const value = expressionSql(expression, columnSql);
  const isNumber = expression.kind === 'literal' && expression.literal.type === 'integer';
  const time = isNumber ? `to_timestamp(${value})` : `CAST(${value} AS TIMESTAMP WITH TIME ZONE)`;
  const [row] = await engine.rows(`SELECT epoch_us(${time})`, context.signal);
  const micros = row?.[0];
  return typeof micros === 'bigint' ? { kind: 'timestamp', micros, text } : timestampPoint(text);
}
