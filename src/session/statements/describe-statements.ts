import type { Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** After DESCRIBE or DESC. A table may be called `history` or `detail`: a name must follow those words. */
export function readDescribe(reader: StatementReader): Statement {
  const { stream } = reader;
  if (isFollowedByName(reader) && stream.takeWords('HISTORY')) {
    const name = reader.tableOrPath();
    return stream.takeWords('LIMIT')
      ? { kind: 'describe-history', name, limit: reader.count('a number of versions') }
      : { kind: 'describe-history', name };
  }
  if (isFollowedByName(reader) && stream.takeWords('DETAIL')) return { kind: 'describe-detail', name: reader.tableOrPath() };
  if (isFollowedByName(reader) && stream.takeOneOf('DATABASE', 'SCHEMA', 'NAMESPACE') !== undefined) {
    const extended = stream.takeWords('EXTENDED');
    return { kind: 'describe-namespace', name: reader.objectName('a namespace'), extended };
  }
  if (isFollowedByName(reader) && stream.atWords('FUNCTION')) throw reader.unsupported(stream.peek(), 'DESCRIBE FUNCTION');
  if (stream.takeWords('QUERY')) return { kind: 'describe-query', query: reader.query() };
  if (reader.atQuery && !stream.atWords('TABLE')) return { kind: 'describe-query', query: reader.query() };
  return readDescribeTable(reader);
}

function readDescribeTable(reader: StatementReader): Statement {
  const { stream } = reader;
  if (isFollowedByName(reader)) stream.takeWords('TABLE');
  const extended = isFollowedByName(reader) && stream.takeOneOf('EXTENDED', 'FORMATTED') !== undefined;
  const name = reader.tableOrPath();
  const plain = reader.atStatementEnd();
  return { kind: 'describe-table', name, extended, ...(plain ? {} : { column: stream.expectNameParts('a column name') }) };
}

function isFollowedByName({ stream }: StatementReader): boolean {
  const { kind } = stream.peek(1);
  return kind === 'word' || kind === 'quoted-name' || kind === 'string';
}
