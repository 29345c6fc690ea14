import type { AlterViewAction, Statement, ViewColumn } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** After CREATE [OR REPLACE] [GLOBAL] TEMPORARY VIEW. What is said about the view and its columns goes with the session: nothing shows it. */
export function readTemporaryView(reader: StatementReader, replace: boolean): Extract<Statement, { readonly kind: 'create-view' }> {
  const name = reader.objectName('a view');
  if (reader.stream.atWords('USING'))
    throw reader.unsupported(reader.stream.peek(), 'CREATE TEMPORARY VIEW … USING', 'use session.read and createOrReplaceTempView');
  const { stream } = reader;
  const columns = readColumns(reader)?.map((column) => column.name);
  if (stream.takeWords('COMMENT')) stream.expectString();
  stream.expectWords('AS');
  return { kind: 'create-view', name, columns, replace, query: reader.query() };
}

/** After CREATE [OR REPLACE] VIEW. */
export function readView(reader: StatementReader, replace: boolean): Statement {
  const { stream } = reader;
  const token = stream.peek();
  const ifNotExists = reader.ifNotExists();
  if (ifNotExists && replace) throw stream.unexpectedAt(token, 'either OR REPLACE or IF NOT EXISTS');
  const mode = replace ? 'create-or-replace' : ifNotExists ? 'create-if-absent' : 'create';
  const name = reader.objectName('a view');
  const columns = readColumns(reader);
  const seen = new Set<string>();
  let clauses: { comment?: string; properties: Readonly<Record<string, string>> } = { properties: {} };
  for (let at = stream.peek(); !stream.takeWords('AS'); at = stream.peek()) {
    const word = stream.takeOneOf('COMMENT', 'TBLPROPERTIES', 'WITH', 'PARTITIONED');
    if (word === undefined) throw stream.unexpected('COMMENT', 'TBLPROPERTIES', 'AS');
    if (word === 'WITH') throw reader.unsupported(at, 'CREATE VIEW … WITH SCHEMA', 'a view has the columns it had when it was made');
    if (word === 'PARTITIONED') throw reader.unsupported(at, 'CREATE VIEW … PARTITIONED ON', 'views have no partitions');
    if (seen.has(word)) throw stream.unexpectedAt(at, 'each clause once');
    seen.add(word);
    clauses =
      word === 'COMMENT' ? { ...clauses, comment: stream.expectString('a comment') } : { ...clauses, properties: reader.properties() };
  }
  return { kind: 'create-catalog-view', name, mode, columns, ...clauses, query: reader.query() };
}

/** After ALTER VIEW. */
export function readAlterView(reader: StatementReader): Statement {
  const name = reader.objectName('a view');
  return { kind: 'alter-view', name, action: readAction(reader) };
}

function readAction(reader: StatementReader): AlterViewAction {
  const { stream } = reader;
  if (stream.takeWords('AS') || reader.atQuery) return { kind: 'query', query: reader.query() };
  const word = stream.expectOneOf('AS', 'SET', 'UNSET', 'RENAME', 'WITH');
  if (word === 'WITH')
    throw reader.unsupported(stream.peek(-1), 'ALTER VIEW … WITH SCHEMA', 'a view has the columns it had when it was made');
  if (word === 'RENAME') {
    stream.expectWords('TO');
    return { kind: 'rename', to: reader.objectName('a view') };
  }
  stream.expectWords('TBLPROPERTIES');
  if (word === 'SET') return { kind: 'set-properties', properties: reader.tableProperties() };
  const ifExists = reader.ifExists();
  return { kind: 'unset-properties', keys: stream.parenthesised(() => reader.tablePropertyKey()), ifExists };
}

function readColumns(reader: StatementReader): readonly ViewColumn[] | undefined {
  const { stream } = reader;
  if (!stream.atOperator('(')) return undefined;
  return stream.parenthesised(() => {
    const name = stream.expectName('a column name');
    return stream.takeWords('COMMENT') ? { name, comment: stream.expectString('a comment') } : { name };
  });
}
