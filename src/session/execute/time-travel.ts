import { bindExpression } from '../../expr/bind-expression.ts';
import type { Expression } from '../../expr/expression.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { expressionSql } from '../../expr/sql/engine-sql.ts';
import { fixedNow } from '../commands/row-commands.ts';
import { columnSql } from '../lower/column-sql.ts';
import type { ReadPoint } from '../plan/plan.ts';
import { timestampPoint } from '../read/read-options.ts';
import type { TimeTravel } from '../statements/statement.ts';
import type { StatementContext } from './statement-context.ts';

/** The version a statement asks for. @throws AnalysisException `DELTA_TIMESTAMP_INVALID`, `DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE`. */
export async function readPointFor(context: StatementContext, asOf: TimeTravel | undefined): Promise<ReadPoint | undefined> {
  if (asOf === undefined) return undefined;
  if (asOf.kind === 'version') return { kind: 'version', version: asOf.version };
  const zone = context.runtime.conf.zone?.rule;
  const expression = bindExpression(fixedNow(context, asOf.timestamp), []);
  if (expression.kind === 'literal' && expression.literal.type === 'string') return timestampPoint(expression.literal.value, zone);
  const text = printExpression(expression);
  if (expression.kind === 'literal' && expression.literal.type === 'timestamp')
    return { kind: 'timestamp', micros: expression.literal.micros, text };
  const engine = await context.runtime.openEngine();
  const time: Expression = { kind: 'cast', operand: expression, type: { kind: 'timestamp' }, safe: false, zone };
  const [row] = await engine.rows(`SELECT epoch_us(${expressionSql(time, columnSql)})`, context.signal);
  const micros = row?.[0];
  return typeof micros === 'bigint' ? { kind: 'timestamp', micros, text } : timestampPoint(text, zone);
}
