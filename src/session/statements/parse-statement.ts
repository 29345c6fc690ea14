import type { ParameterValues } from '../../expr/bind-parameters.ts';
import { readTokens } from '../../expr/parse/parse-expression.ts';
import { readAlter, readCommentOn } from './alter-statement.ts';
import { readCache, readClear, readUncache } from './cache-statements.ts';
import { readCall, readReset, readSet, readUse } from './configuration-statements.ts';
import { readCreate, readDrop, readReplace } from './create-statements.ts';
import { readDescribe } from './describe-statements.ts';
import { readFromInserts } from './from-inserts.ts';
import {
  readConvert,
  readGenerate,
  readOptimize,
  readRefresh,
  readReorg,
  readRestore,
  readTruncate,
  readVacuum,
} from './maintenance-statements.ts';
import { readMerge } from './merge-statement.ts';
import { readDelete, readInsert, readUpdate } from './row-statements.ts';
import { readShow } from './show-statements.ts';
import type { ExplainStatement, Statement } from './statement.ts';
import { queryWords, StatementReader } from './statement-reader.ts';
import { readNamedQueries, withNamedQueries } from './with-statement.ts';

/**
 * One statement of Spark's dialect; a semicolon may end it. Queries stay text. Values given for parameters replace them outside of queries.
 *
 * @throws ParseException with the position, what was expected there and the nearest known word; AnalysisException for types that do not exist,
 * parameters without values and MERGE clauses that hide others.
 */
export function parseStatement(text: string, parameters?: ParameterValues): Statement {
  const reader = new StatementReader(text, readTokens(text, parameters), parameters);
  const statement = readStatement(reader);
  while (reader.stream.takeOperator(';'));
  reader.stream.expectEnd();
  return statement;
}

const statements: Readonly<Record<string, (reader: StatementReader) => Statement>> = {
  ALTER: readAlter,
  ANALYZE: refuseAnalyze,
  CACHE: readCache,
  CALL: readCall,
  CLEAR: readClear,
  COMMENT: readCommentOn,
  CONVERT: readConvert,
  CREATE: readCreate,
  DELETE: readDelete,
  DESC: readDescribe,
  DESCRIBE: readDescribe,
  DROP: readDrop,
  EXPLAIN: readExplain,
  GENERATE: readGenerate,
  INSERT: (reader) => readInsert(reader),
  MERGE: readMerge,
  OPTIMIZE: readOptimize,
  REFRESH: readRefresh,
  REORG: readReorg,
  REPLACE: readReplace,
  RESET: readReset,
  RESTORE: readRestore,
  SET: readSet,
  SHOW: readShow,
  TRUNCATE: readTruncate,
  UNCACHE: readUncache,
  UPDATE: readUpdate,
  USE: readUse,
  VACUUM: readVacuum,
};

function readStatement(reader: StatementReader): Statement {
  const { stream } = reader;
  const named = readNamedQueries(reader);
  if (named !== undefined) return withNamedQueries(readStatement(reader), named);
  const inserts = readFromInserts(reader);
  if (inserts !== undefined) return inserts;
  if (reader.atQuery) return { kind: 'query', query: reader.query() };
  const word = stream.peek().kind === 'word' ? stream.peek().value.toUpperCase() : '';
  const read = Object.hasOwn(statements, word) ? statements[word] : undefined;
  if (read === undefined) throw stream.unexpected(...queryWords, ...Object.keys(statements));
  stream.next();
  return read(reader);
}

function refuseAnalyze(reader: StatementReader): never {
  const hint = 'tables keep statistics of their files with every write; DESCRIBE DETAIL shows their size';
  throw reader.unsupported(reader.stream.peek(-1), 'ANALYZE TABLE', hint);
}

/** COST and FORMATTED say what the plan says anyway: what is read of each table, one node a line. */
function readExplain(reader: StatementReader): Statement {
  const word = reader.stream.takeOneOf('EXTENDED', 'FORMATTED', 'COST', 'CODEGEN');
  if (word === 'CODEGEN')
    throw reader.unsupported(reader.stream.peek(-1), 'EXPLAIN CODEGEN', 'no code is generated: EXPLAIN EXTENDED shows the plans');
  const at = reader.stream.peek();
  const of = reader.atQuery || rowWords.some((word) => reader.stream.atWords(word)) ? readStatement(reader) : undefined;
  if (of !== undefined && isExplained(of)) return { kind: 'explain', extended: word === 'EXTENDED', of };
  throw reader.stream.unexpectedAt(at, ...queryWords, ...rowWords);
}

const rowWords: readonly string[] = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'];

function isExplained(statement: Statement): statement is ExplainStatement['of'] {
  return ['query', 'insert', 'update', 'delete', 'merge'].includes(statement.kind);
}
