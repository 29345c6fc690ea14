import { readColumnDefinition } from '../../expr/parse/column-definition.ts';
import type { Field } from '../../schema/types.ts';
import { readPartitionItem } from './partition-item.ts';
import type {
  CheckConstraint,
  CloneTableStatement,
  CreateTableStatement,
  ObjectName,
  PartitionItem,
  QueryText,
  Statement,
} from './statement.ts';
import type { StatementReader } from './statement-reader.ts';
import { readTemporaryView, readView } from './view-statements.ts';

/** After CREATE. */
export function readCreate(reader: StatementReader): Statement {
  const { stream } = reader;
  const replace = stream.takeWords('OR', 'REPLACE');
  const global = stream.takeWords('GLOBAL');
  if (stream.takeOneOf('TEMPORARY', 'TEMP') !== undefined) {
    stream.expectWords('VIEW');
    return { ...readTemporaryView(reader, replace), ...(global ? { global } : {}) };
  }
  if (global) throw stream.unexpected('TEMPORARY');
  if (stream.takeWords('VIEW')) return readView(reader, replace);
  if (!replace && stream.takeOneOf('DATABASE', 'SCHEMA', 'NAMESPACE') !== undefined) return readNamespace(reader);
  stream.takeWords('EXTERNAL');
  if (!stream.takeWords('TABLE'))
    throw stream.unexpected('TABLE', 'VIEW', 'TEMPORARY', ...(replace ? [] : ['DATABASE', 'SCHEMA', 'NAMESPACE']));
  const ifNotExists = reader.ifNotExists();
  return readTable(reader, replace ? 'create-or-replace' : ifNotExists ? 'create-if-absent' : 'create');
}

/** After REPLACE. */
export function readReplace(reader: StatementReader): Statement {
  reader.stream.expectWords('TABLE');
  return readTable(reader, 'replace');
}

/** After DROP. */
export function readDrop(reader: StatementReader): Statement {
  const { stream } = reader;
  const what = stream.expectOneOf('TABLE', 'VIEW', 'DATABASE', 'SCHEMA', 'NAMESPACE');
  const ifExists = reader.ifExists();
  if (what === 'TABLE') return { kind: 'drop-table', name: reader.tableOrPath(), ifExists, purge: stream.takeWords('PURGE') };
  if (what === 'VIEW') return { kind: 'drop-view', name: reader.objectName('a view'), ifExists };
  const name = reader.objectName('a namespace');
  return { kind: 'drop-namespace', name, ifExists, cascade: stream.takeOneOf('CASCADE', 'RESTRICT') === 'CASCADE' };
}

function readNamespace(reader: StatementReader): Statement {
  const { stream } = reader;
  const ifNotExists = reader.ifNotExists();
  const name = reader.objectName('a namespace');
  let statement: Extract<Statement, { kind: 'create-namespace' }> = { kind: 'create-namespace', name, ifNotExists, properties: {} };
  for (;;) {
    if (stream.takeWords('COMMENT')) statement = { ...statement, comment: stream.expectString('a comment') };
    else if (stream.takeOneOf('LOCATION', 'MANAGED') !== undefined) {
      stream.takeWords('LOCATION');
      statement = { ...statement, location: stream.expectString('a location') };
    } else if (stream.takeWords('WITH')) {
      stream.expectOneOf('DBPROPERTIES', 'PROPERTIES');
      statement = { ...statement, properties: reader.tableProperties() };
    } else if (reader.atStatementEnd()) return statement;
    else throw stream.unexpected('COMMENT', 'LOCATION', 'WITH', 'the end of the statement');
  }
}

type Mode = CreateTableStatement['mode'];

function readTable(reader: StatementReader, mode: Mode): Statement {
  const { stream } = reader;
  const name = reader.objectName();
  if (stream.atWords('LIKE')) return readLike(reader, mode, name);
  const kind = stream.takeOneOf('SHALLOW', 'DEEP', 'CLONE');
  if (kind !== undefined) return readClone(reader, mode, name, kind);
  const columnsAt = stream.peek();
  const body = stream.atOperator('(') && !reader.atQuery ? readColumns(reader) : { columns: undefined, constraints: [] };
  const clauses = readClauses(reader);
  const query = readAsQuery(reader);
  if (query !== undefined && body.columns !== undefined) {
    const hint = 'leave the columns out and name and cast those of the query';
    throw reader.unsupported(columnsAt, 'a list of columns in CREATE TABLE … AS SELECT', hint, '_LEGACY_ERROR_TEMP_0035');
  }
  return { kind: 'create-table', mode, name, ...body, ...clauses, ...(query === undefined ? {} : { query }) };
}

/** At LIKE. Columns, partitions and clusters come from the other table. */
function readLike(reader: StatementReader, mode: Mode, name: ObjectName): Statement {
  const { stream } = reader;
  if (mode !== 'create' && mode !== 'create-if-absent')
    throw reader.unsupported(stream.peek(), 'REPLACE TABLE … LIKE', 'use CREATE OR REPLACE TABLE … AS SELECT … WHERE false');
  stream.expectWords('LIKE');
  const source = reader.objectName();
  const token = stream.peek();
  const { provider, location, properties, ...others } = readClauses(reader);
  const given = others.partitionedBy.length > 0 || others.clusterBy.length > 0 || others.comment !== undefined;
  if (given || Object.keys(others.options).length > 0) throw stream.unexpectedAt(token, 'USING', 'LOCATION', 'TBLPROPERTIES');
  if (!reader.atStatementEnd()) throw stream.unexpected('USING', 'LOCATION', 'TBLPROPERTIES', 'the end of the statement');
  const place = { ...(provider === undefined ? {} : { provider }), ...(location === undefined ? {} : { location }) };
  return { kind: 'create-table-like', mode, name, source, properties, ...place };
}

function readClone(reader: StatementReader, mode: Mode, name: ObjectName, kind: string): CloneTableStatement {
  const { stream } = reader;
  if (kind !== 'CLONE') stream.expectWords('CLONE');
  const source = reader.tableSource();
  const properties = stream.takeWords('TBLPROPERTIES') ? reader.tableProperties() : {};
  const location = stream.takeWords('LOCATION') ? { location: stream.expectString('a location') } : {};
  return { kind: 'clone-table', mode, name, source, shallow: kind === 'SHALLOW', properties, ...location };
}

function readAsQuery(reader: StatementReader): QueryText | undefined {
  const { stream } = reader;
  if (stream.takeWords('AS') || reader.atQuery) return reader.query();
  if (!reader.atStatementEnd()) throw stream.unexpected(...clauseWords, 'AS', 'the end of the statement');
  return undefined;
}

function readColumns(reader: StatementReader): Pick<CreateTableStatement, 'columns' | 'constraints'> {
  const { stream } = reader;
  const columns: Field[] = [];
  const constraints: CheckConstraint[] = [];
  stream.expectOperator('(');
  do {
    const constraint = readConstraint(reader);
    if (constraint === undefined) columns.push(readColumnDefinition(stream, reader.expressions));
    else constraints.push(constraint);
  } while (stream.takeOperator(','));
  stream.expectOperator(')');
  return { columns, constraints };
}

/** `[CONSTRAINT name] CHECK (condition)`; `undefined`, with nothing read, when a column comes next. */
export function readConstraint(reader: StatementReader): CheckConstraint | undefined {
  const { stream } = reader;
  const named = stream.atWords('CONSTRAINT') && stream.peek(2).kind === 'word' && !stream.atOperator('(', 2);
  if (!named && !(stream.atWords('CHECK') && stream.atOperator('(', 1))) {
    const key =
      stream.atWords('PRIMARY', 'KEY') || stream.atWords('FOREIGN', 'KEY') || (stream.atWords('UNIQUE') && stream.atOperator('(', 1));
    if (key)
      throw reader.unsupported(
        stream.peek(),
        `${stream.peek().value.toUpperCase()} constraint`,
        'tables do not enforce keys; leave it out',
      );
    return undefined;
  }
  const name = stream.takeWords('CONSTRAINT') ? { name: stream.expectName('a constraint name') } : {};
  if (!stream.takeWords('CHECK')) {
    if (stream.atWords('PRIMARY') || stream.atWords('FOREIGN') || stream.atWords('UNIQUE')) {
      throw reader.unsupported(
        stream.peek(),
        `${stream.peek().value.toUpperCase()} constraint`,
        'tables do not enforce keys; leave it out',
      );
    }
    throw stream.unexpected('CHECK');
  }
  stream.expectOperator('(');
  const { expression, text } = reader.expressions.readExpressionText();
  stream.expectOperator(')');
  stream.takeWords('ENFORCED');
  return { ...name, condition: expression, text };
}

interface TableClauses {
  readonly provider?: string;
  readonly partitionedBy: readonly PartitionItem[];
  readonly clusterBy: readonly (readonly string[])[];
  readonly location?: string;
  readonly comment?: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
}

const clauseWords = ['USING', 'PARTITIONED', 'CLUSTER', 'LOCATION', 'COMMENT', 'TBLPROPERTIES', 'OPTIONS'];

/** In any order, each once. */
function readClauses(reader: StatementReader): TableClauses {
  const { stream } = reader;
  const seen = new Set<string>();
  let clauses: TableClauses = { partitionedBy: [], clusterBy: [], properties: {}, options: {} };
  for (let token = stream.peek(); ; token = stream.peek()) {
    const word = stream.takeOneOf(...clauseWords, 'CLUSTERED', 'STORED', 'ROW', 'SORTED');
    if (word === undefined) return clauses;
    if (!clauseWords.includes(word)) throw reader.unsupported(token, `${word} in CREATE TABLE`, 'use USING, PARTITIONED BY and CLUSTER BY');
    if (seen.has(word)) throw stream.unexpectedAt(token, 'each clause once');
    seen.add(word);
    clauses = { ...clauses, ...readClause(reader, word) };
  }
}

function readClause(reader: StatementReader, word: string): Partial<TableClauses> {
  const { stream } = reader;
  switch (word) {
    case 'USING':
      return { provider: stream.expectNameParts('a format').join('.').toLowerCase() };
    case 'PARTITIONED':
      stream.expectWords('BY');
      return { partitionedBy: stream.parenthesised(() => readPartitionItem(reader, { typed: true })) };
    case 'CLUSTER':
      stream.expectWords('BY');
      return { clusterBy: stream.takeWords('NONE') ? [] : stream.parenthesised(() => stream.expectNameParts('a column name')) };
    case 'LOCATION':
      return { location: stream.expectString('a location') };
    case 'COMMENT':
      return { comment: stream.expectString('a comment') };
    case 'TBLPROPERTIES':
      return { properties: reader.tableProperties() };
    default:
      return { options: reader.properties() };
  }
}
