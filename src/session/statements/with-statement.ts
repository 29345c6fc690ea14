import { quotedName } from '../../table/table-names.ts';
import { isFromOfInserts } from './from-inserts.ts';
import { joinedText } from './query-text.ts';
import type { AskedRows, MergeStatement, QueryText, Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** Queries that have names in the statement behind them. */
export interface NamedQueries {
  /** `WITH a AS (…), b AS (…)`. */
  readonly text: QueryText;
  /** In lower case. */
  readonly names: ReadonlySet<string>;
}

const statements: Readonly<Record<string, readonly string[]>> = {
  INSERT: ['INTO', 'OVERWRITE', 'WITH'],
  MERGE: ['INTO', 'WITH'],
  DELETE: ['FROM'],
};

/** Reads `WITH …` where a statement that changes rows follows, and leaves the stream at that; `undefined`: what follows is a query. */
export function readNamedQueries(reader: StatementReader): NamedQueries | undefined {
  const { stream } = reader;
  if (!stream.atWords('WITH')) return undefined;
  const names = new Set<string>();
  const first = stream.atWords('WITH', 'RECURSIVE') ? 2 : 1;
  let depth = 0;
  for (let ahead = first; ; ahead += 1) {
    const [before, token, after] = [stream.peek(ahead - 1), stream.peek(ahead), stream.peek(ahead + 1)];
    if (token.kind === 'end') return undefined;
    if (stream.atOperator('(', ahead)) depth += 1;
    else if (stream.atOperator(')', ahead)) depth -= 1;
    if (depth > 0 || token.kind === 'operator') continue;
    const word = token.kind === 'word' ? token.value.toUpperCase() : '';
    const named = ahead === first || stream.atOperator(',', ahead - 1);
    if (named) names.add(token.value.toLowerCase());
    else if (word === 'FROM' && isFromOfInserts(reader, ahead)) return { text: reader.textUntil(ahead), names };
    else if (['SELECT', 'FROM', 'VALUES', 'TABLE'].includes(word)) return undefined;
    else if (before.value === ')' && (word === 'UPDATE' || statements[word]?.includes(after.value.toUpperCase()) === true)) {
      return { text: reader.textUntil(ahead), names };
    }
  }
}

/** The statement whose queries know the named ones. */
export function withNamedQueries(statement: Statement, named: NamedQueries): Statement {
  switch (statement.kind) {
    case 'insert':
      return { ...statement, query: knowing(statement.query, named) };
    case 'from-inserts':
      return { ...statement, inserts: statement.inserts.map((insert) => ({ ...insert, query: knowing(insert.query, named) })) };
    case 'merge':
      return { ...statement, ...mergeSource(statement, named) };
    case 'delete':
    case 'update':
      return statement.asks === undefined ? statement : { ...statement, asks: asking(statement.asks, named) };
    default:
      return statement;
  }
}

function mergeSource({ source, sourceAlias }: MergeStatement, named: NamedQueries): Pick<MergeStatement, 'source' | 'sourceAlias'> {
  if (source.kind === 'query') return { source: { kind: 'query', query: knowing(source.query, named) }, sourceAlias };
  const [name = '', ...more] = source.table.parts;
  if (more.length > 0 || !named.names.has(name.toLowerCase())) return { source, sourceAlias };
  const query = joinedText(named.text.at, named.text, ` SELECT * FROM ${quotedName([name])}`);
  return { source: { kind: 'query', query }, sourceAlias: sourceAlias ?? name };
}

function knowing(query: QueryText, { text }: NamedQueries): QueryText {
  return joinedText(text.at, text, ' SELECT * FROM (', query, ')');
}

function asking(asks: AskedRows, { text }: NamedQueries): AskedRows {
  return { ...asks, named: text };
}
