import type { Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** After CACHE: `[LAZY] TABLE name [OPTIONS (…)] [[AS] query]`. With a query the name is that of a new temporary view. */
export function readCache(reader: StatementReader): Statement {
  const { stream } = reader;
  stream.takeWords('LAZY');
  stream.expectWords('TABLE');
  const name = reader.tableOrPath();
  if (stream.takeWords('OPTIONS')) reader.properties();
  const named = stream.takeWords('AS');
  if (!named && !reader.atQuery) return { kind: 'cache', name, optional: false };
  return { kind: 'cache', name, optional: false, view: { kind: 'create-view', name, replace: false, query: reader.query() } };
}

/** After UNCACHE. */
export function readUncache(reader: StatementReader): Statement {
  reader.stream.expectWords('TABLE');
  const optional = reader.ifExists();
  return { kind: 'cache', name: reader.tableOrPath(), optional };
}

/** After CLEAR. */
export function readClear(reader: StatementReader): Statement {
  reader.stream.expectWords('CACHE');
  return { kind: 'cache', optional: true };
}
