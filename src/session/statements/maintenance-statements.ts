import { readColumnDefinition } from '../../expr/parse/column-definition.ts';
import type { Statement, TimeTravel } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** After OPTIMIZE. */
export function readOptimize(reader: StatementReader): Statement {
  const { stream } = reader;
  const name = reader.tableOrPath();
  const full = stream.takeWords('FULL');
  const where = stream.takeWords('WHERE') ? reader.expression() : undefined;
  const zOrderBy = stream.takeWords('ZORDER', 'BY') ? reader.columnPaths().map((path) => path.join('.')) : [];
  if (!reader.atStatementEnd()) throw stream.unexpected('WHERE', 'ZORDER', 'FULL', 'the end of the statement');
  return { kind: 'optimize', name, ...(where === undefined ? {} : { where }), zOrderBy, full };
}

/** After REORG. */
export function readReorg(reader: StatementReader): Statement {
  const { stream } = reader;
  stream.expectWords('TABLE');
  const name = reader.tableOrPath();
  const where = stream.takeWords('WHERE') ? reader.expression() : undefined;
  stream.expectWords('APPLY');
  stream.expectOperator('(');
  if (stream.atWords('UPGRADE')) throw reader.unsupported(stream.peek(), 'REORG TABLE … APPLY (UPGRADE UNIFORM)');
  stream.expectWords('PURGE');
  stream.expectOperator(')');
  return { kind: 'reorg', name, ...(where === undefined ? {} : { where }) };
}

/** After VACUUM; the clauses in any order. */
export function readVacuum(reader: StatementReader): Statement {
  const { stream } = reader;
  const name = reader.tableOrPath();
  let mode: 'full' | 'lite' | undefined;
  let retainHours: number | undefined;
  let dryRun = false;
  for (;;) {
    const word = stream.takeOneOf('LITE', 'FULL', 'RETAIN', 'DRY');
    if (word === 'LITE' || word === 'FULL') mode = word === 'LITE' ? 'lite' : 'full';
    else if (word === 'RETAIN') retainHours = readHours(reader);
    else if (word === 'DRY') {
      stream.expectWords('RUN');
      dryRun = true;
    } else break;
  }
  if (!reader.atStatementEnd()) throw stream.unexpected('LITE', 'FULL', 'RETAIN', 'DRY', 'the end of the statement');
  return { kind: 'vacuum', name, mode, ...(retainHours === undefined ? {} : { retainHours }), dryRun };
}

function readHours({ stream }: StatementReader): number {
  const token = stream.peek();
  if (token.kind !== 'number' || !/^\d{1,9}(?:\.\d{1,9})?$/.test(token.value)) throw stream.unexpected('a number of hours');
  stream.next();
  stream.expectOneOf('HOURS', 'HOUR');
  return Number(token.value);
}

/** After CONVERT. */
export function readConvert(reader: StatementReader): Statement {
  const { stream } = reader;
  stream.expectWords('TO', 'DELTA');
  const name = reader.tableOrPath();
  const collectStatistics = !stream.takeWords('NO', 'STATISTICS');
  const partitioned = stream.takeWords('PARTITIONED', 'BY');
  const partitionedBy = partitioned ? stream.parenthesised(() => readColumnDefinition(stream, reader.expressions)) : [];
  return { kind: 'convert', name, partitionedBy, collectStatistics };
}

/** After RESTORE. */
export function readRestore(reader: StatementReader): Statement {
  const { stream } = reader;
  if (!stream.atOperator('.', 1)) stream.takeWords('TABLE');
  const name = reader.tableOrPath();
  stream.takeWords('TO');
  const to: TimeTravel | undefined = reader.timeTravel();
  if (to === undefined) throw stream.unexpected('VERSION', 'TIMESTAMP');
  return { kind: 'restore', name, to };
}

/** After GENERATE. */
export function readGenerate(reader: StatementReader): Statement {
  const { stream } = reader;
  const mode = stream.expectName('a mode such as symlink_format_manifest').toLowerCase();
  stream.expectWords('FOR', 'TABLE');
  return { kind: 'generate', mode, name: reader.tableOrPath() };
}

/** After TRUNCATE. */
export function readTruncate(reader: StatementReader): Statement {
  reader.stream.expectWords('TABLE');
  const name = reader.tableOrPath();
  if (reader.stream.atWords('PARTITION'))
    throw reader.unsupported(reader.stream.peek(), 'TRUNCATE TABLE … PARTITION', 'use DELETE FROM … WHERE');
  return { kind: 'truncate-table', name };
}

/** After REFRESH. */
export function readRefresh(reader: StatementReader): Statement {
  reader.stream.takeWords('TABLE');
  return { kind: 'refresh-table', name: reader.tableOrPath() };
}
