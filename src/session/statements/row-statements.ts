import { type Expression, nullExpression } from '../../expr/expression.ts';
import type { Assignment } from '../../table/row-operations.ts';
import type { InsertStatement, ObjectName, QueryText, Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** After INSERT. `query`: reads the rows; default: the rest of the statement. */
export function readInsert(reader: StatementReader, query: () => QueryText = () => reader.query()): InsertStatement {
  const { stream } = reader;
  const schemaEvolution = stream.takeWords('WITH', 'SCHEMA', 'EVOLUTION');
  const mode = stream.expectOneOf('INTO', 'OVERWRITE') === 'INTO' ? 'append' : 'overwrite';
  if (mode === 'overwrite' && (stream.atWords('DIRECTORY') || stream.atWords('LOCAL'))) {
    throw reader.unsupported(stream.peek(), 'INSERT OVERWRITE DIRECTORY', 'write the query with DataFrame.write');
  }
  if (!stream.atOperator('.', 1)) stream.takeWords('TABLE');
  const name = reader.objectName();
  const partition = stream.takeWords('PARTITION') ? readPartition(reader) : [];
  if (stream.atWords('IF', 'NOT', 'EXISTS')) throw reader.unsupported(stream.peek(), 'INSERT OVERWRITE … IF NOT EXISTS');
  const byName = stream.takeWords('BY', 'NAME');
  const columns =
    !byName && stream.atOperator('(') && !reader.atQuery ? stream.parenthesised(() => stream.expectName('a column name')) : undefined;
  const replaceWhere = readReplaceWhere(reader);
  if (!reader.atQuery) {
    throw stream.unexpected(
      'SELECT',
      'VALUES',
      'TABLE',
      'FROM',
      'WITH',
      ...(columns === undefined ? ['BY', 'PARTITION', 'REPLACE', 'a list of columns'] : []),
    );
  }
  const insert: InsertStatement = {
    kind: 'insert',
    name,
    mode: replaceWhere === undefined ? mode : 'overwrite',
    columns,
    partition,
    byName,
    ...(schemaEvolution ? { schemaEvolution } : {}),
    query: query(),
  };
  return replaceWhere === undefined ? insert : { ...insert, replaceWhere };
}

/** After DELETE. */
export function readDelete(reader: StatementReader): Statement {
  const { stream } = reader;
  stream.expectWords('FROM');
  const name = reader.tableOrPath();
  const alias = reader.alias();
  const conditioned = stream.takeWords('WHERE');
  if (conditioned && reader.asksQuery)
    return { kind: 'delete', name, alias, condition: undefined, asks: { condition: restOf(reader), values: [] } };
  const condition = conditioned ? reader.expression() : undefined;
  if (!reader.atStatementEnd()) throw stream.unexpected('WHERE', 'AND', 'OR', 'the end of the statement');
  return { kind: 'delete', name, alias, condition };
}

/** After UPDATE. */
export function readUpdate(reader: StatementReader): Statement {
  const { stream } = reader;
  const name = reader.tableOrPath();
  const alias = reader.alias();
  stream.expectWords('SET');
  if (reader.asksQuery) return readAskingUpdate(reader, { name, alias });
  const assignments = readAssignments(reader, { name, alias });
  const condition = stream.takeWords('WHERE') ? reader.expression() : undefined;
  if (!reader.atStatementEnd()) throw stream.unexpected("','", 'WHERE', 'AND', 'OR', 'the end of the statement');
  return { kind: 'update', name, alias, assignments, condition };
}

/** With queries in its condition or its values, which then stay text. */
function readAskingUpdate(reader: StatementReader, target: { readonly name: ObjectName; readonly alias: string | undefined }): Statement {
  const { stream } = reader;
  const values: QueryText[] = [];
  const assignments = stream.list((): Assignment => {
    const column = readTargetColumn(reader, target);
    stream.expectOperator('=');
    values.push(reader.expressionText({ words: ['WHERE'], comma: true }));
    return { target: column, value: nullExpression };
  });
  const condition = stream.takeWords('WHERE') ? restOf(reader) : undefined;
  return { kind: 'update', ...target, assignments, condition: undefined, asks: { condition, values } };
}

function restOf(reader: StatementReader): QueryText {
  return reader.expressionText({ words: [], comma: false });
}

/** `a = x, t.b.c = y`: columns of the target, without its alias. */
export function readAssignments(
  reader: StatementReader,
  target: { readonly name: ObjectName; readonly alias: string | undefined },
): readonly Assignment[] {
  return reader.stream.list(() => {
    const column = readTargetColumn(reader, target);
    reader.stream.expectOperator('=');
    return { target: column, value: reader.expression() };
  });
}

/** A column of the target; the alias, or the table's own name, may stand before it. */
export function readTargetColumn(
  { stream }: StatementReader,
  { name, alias }: { readonly name: ObjectName; readonly alias: string | undefined },
): readonly string[] {
  const path = stream.expectNameParts('a column name');
  const qualifier = alias ?? name.parts.at(-1) ?? '';
  return path.length > 1 && path[0]?.toLowerCase() === qualifier.toLowerCase() ? path.slice(1) : path;
}

function readPartition(reader: StatementReader): InsertStatement['partition'] {
  return reader.stream.parenthesised(() => {
    const column = reader.stream.expectName('a partition column');
    return { column, value: reader.stream.takeOperator('=') ? reader.expressions.readOperand() : undefined };
  });
}

function readReplaceWhere(reader: StatementReader): Expression | undefined {
  if (!reader.stream.takeWords('REPLACE')) return undefined;
  reader.stream.expectWords('WHERE');
  return reader.expression();
}
