import type { Expression } from '../../expr/expression.ts';
import type { PivotValue, Plan, UnpivotedColumns } from '../plan/plan.ts';
import type { QueryReader } from './query-reader.ts';

/** `PIVOT (sum(v) AS s FOR k IN (1 AS one, 2))`, `UNPIVOT [INCLUDE NULLS] (v FOR k IN (a, b AS 'x')) [AS alias]` behind a relation. */
export function readPivot(reader: QueryReader, input: Plan): Plan {
  const { stream } = reader;
  if (stream.takeWords('PIVOT')) {
    stream.expectOperator('(');
    const aggregates = stream.list(() => readNamed(reader));
    stream.expectWords('FOR');
    const on = readColumns(reader);
    stream.expectWords('IN');
    const values = stream.parenthesised(() => readValue(reader));
    stream.expectOperator(')');
    return { kind: 'pivot', aggregates, on, values, input };
  }
  stream.expectWords('UNPIVOT');
  const keepsNulls = stream.takeOneOf('INCLUDE', 'EXCLUDE');
  if (keepsNulls !== undefined) stream.expectWords('NULLS');
  stream.expectOperator('(');
  const valueColumns = stream.atOperator('(')
    ? stream.parenthesised(() => stream.expectName('a name for the values'))
    : [stream.expectName('a name for the values')];
  stream.expectWords('FOR');
  const nameColumn = stream.expectName('a name for the names');
  stream.expectWords('IN');
  const columns = stream.parenthesised((): UnpivotedColumns => {
    const turned = readColumns(reader);
    const name = stream.takeWords('AS') || stream.peek().kind === 'string' || stream.peek().kind === 'word' ? readLabel(reader) : undefined;
    return { columns: turned, name };
  });
  stream.expectOperator(')');
  return { kind: 'unpivot', columns, nameColumn, valueColumns, keepsNulls: keepsNulls === 'INCLUDE', input };
}

function readNamed({ stream, expressions }: QueryReader): Expression {
  const operand = expressions.readExpression();
  const token = stream.peek();
  const named = stream.takeWords('AS') || token.kind === 'quoted-name' || (token.kind === 'word' && token.value.toUpperCase() !== 'FOR');
  return named ? { kind: 'alias', operand, name: stream.expectName('an alias') } : operand;
}

function readColumns({ stream }: QueryReader): readonly Expression[] {
  const read = (): Expression => ({ kind: 'column', path: stream.expectNameParts('a column') });
  return stream.atOperator('(') ? stream.parenthesised(read) : [read()];
}

function readValue({ stream, expressions }: QueryReader): PivotValue {
  const values = stream.atOperator('(') ? stream.parenthesised(() => expressions.readExpression()) : [expressions.readExpression()];
  const token = stream.peek();
  const named = stream.takeWords('AS') || token.kind === 'word' || token.kind === 'quoted-name';
  return { values, name: named ? stream.expectName('an alias') : undefined };
}

function readLabel({ stream }: QueryReader): string {
  return stream.peek().kind === 'string' ? stream.expectString() : stream.expectName('a name for the columns');
}
