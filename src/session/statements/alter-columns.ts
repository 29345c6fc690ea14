import { readColumnOf } from '../../expr/parse/column-definition.ts';
import { readDeclaredType } from '../../expr/parse/read-type.ts';
import type { ColumnPlace } from '../../table/definition-changes.ts';
import type { AlterAction } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

type AddColumns = Extract<AlterAction, { kind: 'add-columns' }>;

/** After ADD COLUMN or ADD COLUMNS: one definition, several with commas, or in parentheses. */
export function readAddColumns(reader: StatementReader): AlterAction {
  const { stream } = reader;
  const read = (): AddColumns['columns'][number] => readAddedColumn(reader);
  return { kind: 'add-columns', columns: stream.atOperator('(') ? stream.parenthesised(read) : stream.list(read) };
}

/** After DROP COLUMN or DROP COLUMNS. */
export function readDropColumns(reader: StatementReader): AlterAction {
  const ifExists = reader.ifExists();
  return { kind: 'drop-columns', paths: reader.columnPaths(), ifExists };
}

/** After ALTER or CHANGE; `hive` reads `CHANGE [COLUMN] name name TYPE [COMMENT 'text'] [FIRST | AFTER x]` too. */
export function readAlterColumns(reader: StatementReader, { hive }: { readonly hive: boolean }): readonly AlterAction[] {
  const { stream } = reader;
  if (!stream.takeWords('COLUMN') && !hive) throw stream.unexpected('COLUMN');
  return stream.list(() => readColumnChanges(reader, hive)).flat();
}

function readAddedColumn(reader: StatementReader): AddColumns['columns'][number] {
  const { stream } = reader;
  const path = stream.expectNameParts('a column name');
  stream.takeOperator(':');
  const field = readColumnOf(path.at(-1) ?? '', stream, reader.expressions);
  const place = readPlace(reader);
  return { parent: path.slice(0, -1), field, ...(place === undefined ? {} : { place }) };
}

function readPlace({ stream }: StatementReader): ColumnPlace | undefined {
  if (stream.takeWords('FIRST')) return { kind: 'first' };
  return stream.takeWords('AFTER') ? { kind: 'after', sibling: stream.expectName('a column name') } : undefined;
}

const actions = ['TYPE', 'SET', 'DROP', 'COMMENT', 'FIRST', 'AFTER', 'SYNC'];

function readColumnChanges(reader: StatementReader, hive: boolean): readonly AlterAction[] {
  const { stream } = reader;
  const path = stream.expectNameParts('a column name');
  const { kind } = stream.peek();
  const isAction = actions.some((word) => stream.atWords(word));
  if (hive && (kind === 'word' || kind === 'quoted-name') && !(isAction && stream.peek(1).kind !== 'word')) {
    // `CHANGE a TYPE BIGINT` has an action's word where Hive's form has the same name again.
    if (!isAction || stream.peek().value.toLowerCase() === path.at(-1)?.toLowerCase()) return readHiveChange(reader, path);
  }
  const change = readColumnChange(reader, path);
  return [change];
}

function readColumnChange(reader: StatementReader, path: readonly string[]): AlterAction {
  const { stream } = reader;
  if (stream.takeWords('TYPE')) return { kind: 'change-type', path, type: readDeclaredType(stream) };
  if (stream.takeWords('COMMENT')) return { kind: 'change-comment', path, comment: stream.expectString('a comment') };
  if (stream.takeWords('SYNC', 'IDENTITY')) return { kind: 'sync-identity', path };
  if (stream.takeWords('SET', 'NOT', 'NULL')) return { kind: 'change-nullability', path, nullable: false };
  if (stream.takeWords('DROP', 'NOT', 'NULL')) return { kind: 'change-nullability', path, nullable: true };
  if (stream.takeWords('SET', 'DEFAULT')) return { kind: 'change-default', path, expression: reader.expressions.readExpressionText().text };
  if (stream.takeWords('DROP', 'DEFAULT')) return { kind: 'change-default', path, expression: undefined };
  if (stream.takeWords('SET') || stream.takeWords('DROP')) throw stream.unexpected('NOT', 'DEFAULT');
  const place = readPlace(reader);
  if (place === undefined) throw stream.unexpected(...actions);
  return { kind: 'move-column', path, place };
}

/** The type, comment and place that follow the repeated name. */
function readHiveChange(reader: StatementReader, path: readonly string[]): readonly AlterAction[] {
  const { stream } = reader;
  const token = stream.peek();
  const name = stream.expectName('a column name');
  if (name.toLowerCase() !== path.at(-1)?.toLowerCase())
    throw reader.unsupported(token, 'CHANGE COLUMN to another name', 'use ALTER TABLE … RENAME COLUMN');
  const changes: AlterAction[] = [{ kind: 'change-type', path, type: readDeclaredType(stream) }];
  if (stream.takeWords('COMMENT')) changes.push({ kind: 'change-comment', path, comment: stream.expectString('a comment') });
  const place = readPlace(reader);
  if (place !== undefined) changes.push({ kind: 'move-column', path, place });
  return changes;
}
