import { readAddColumns, readAlterColumns, readDropColumns } from './alter-columns.ts';
import { readCreateRef, readDropRef, readWriteOrder } from './alter-iceberg.ts';
import { readConstraint } from './create-statements.ts';
import { readPartitionItem } from './partition-item.ts';
import type { AlterAction, Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';
import { readAlterView } from './view-statements.ts';

/** After ALTER. */
export function readAlter(reader: StatementReader): Statement {
  const { stream } = reader;
  const token = stream.peek();
  if (stream.takeWords('VIEW')) return readAlterView(reader);
  if (stream.takeOneOf('DATABASE', 'SCHEMA', 'NAMESPACE') !== undefined)
    throw reader.unsupported(token, `ALTER ${token.value.toUpperCase()}`);
  stream.expectWords('TABLE');
  const name = reader.tableOrPath();
  return { kind: 'alter-table', name, actions: readActions(reader) };
}

/** After COMMENT: `ON TABLE t IS 'text' | NULL`. */
export function readCommentOn(reader: StatementReader): Statement {
  const { stream } = reader;
  stream.expectWords('ON', 'TABLE');
  const name = reader.tableOrPath();
  stream.expectWords('IS');
  const comment = stream.takeWords('NULL') ? undefined : stream.expectString('a comment');
  return { kind: 'alter-table', name, actions: [{ kind: 'comment', comment }] };
}

function readActions(reader: StatementReader): readonly AlterAction[] {
  const { stream } = reader;
  const word = stream.expectOneOf('ADD', 'DROP', 'RENAME', 'ALTER', 'CHANGE', 'SET', 'UNSET', 'CLUSTER', 'REPLACE', 'WRITE', 'CREATE');
  switch (word) {
    case 'ADD':
      return [readAdd(reader)];
    case 'DROP':
      return [readDrop(reader)];
    case 'RENAME':
      return [readRename(reader)];
    case 'ALTER':
    case 'CHANGE':
      return readAlterColumns(reader, { hive: word === 'CHANGE' });
    case 'SET':
      return [readSet(reader)];
    case 'UNSET': {
      stream.expectWords('TBLPROPERTIES');
      const ifExists = reader.ifExists();
      return [{ kind: 'unset-properties', keys: stream.parenthesised(() => reader.tablePropertyKey()), ifExists }];
    }
    case 'CLUSTER':
      stream.expectWords('BY');
      return [
        {
          kind: 'cluster-by',
          columns: stream.takeWords('NONE') ? [] : stream.parenthesised(() => stream.expectNameParts('a column name')),
        },
      ];
    case 'WRITE':
      return [readWriteOrder(reader)];
    case 'CREATE': {
      const replace = stream.takeWords('OR', 'REPLACE');
      return [readCreateRef(reader, replace ? 'create-or-replace' : 'create')];
    }
    default:
      return [readReplace(reader)];
  }
}

function readAdd(reader: StatementReader): AlterAction {
  const { stream } = reader;
  const word = stream.expectOneOf('COLUMNS', 'COLUMN', 'CONSTRAINT', 'PARTITION');
  if (word === 'COLUMN' || word === 'COLUMNS') return readAddColumns(reader);
  if (word === 'PARTITION') {
    if (!stream.takeWords('FIELD'))
      throw reader.unsupported(stream.peek(), 'ALTER TABLE … ADD PARTITION', 'partitions come with the rows written to them');
    const item = readPartitionItem(reader, { typed: false });
    return { kind: 'add-partition-field', item, ...(stream.takeWords('AS') ? { name: stream.expectName('a field name') } : {}) };
  }
  stream.reset(stream.mark() - 1);
  const constraint = readConstraint(reader);
  if (constraint?.name === undefined) throw stream.unexpected('a constraint name');
  return { kind: 'add-constraint', name: constraint.name, condition: constraint.condition, text: constraint.text };
}

function readDrop(reader: StatementReader): AlterAction {
  const { stream } = reader;
  const word = stream.expectOneOf('COLUMNS', 'COLUMN', 'CONSTRAINT', 'FEATURE', 'PARTITION', 'BRANCH', 'TAG', 'IDENTIFIER');
  switch (word) {
    case 'CONSTRAINT': {
      const ifExists = reader.ifExists();
      return { kind: 'drop-constraint', name: stream.expectName('a constraint name'), ifExists };
    }
    case 'FEATURE': {
      const feature = stream.peek().kind === 'string' ? stream.expectString() : stream.expectName('a table feature');
      if (stream.atWords('TRUNCATE'))
        throw reader.unsupported(stream.peek(), 'DROP FEATURE … TRUNCATE HISTORY', 'drop the feature when its history has expired');
      return { kind: 'drop-feature', feature };
    }
    case 'PARTITION':
      if (!stream.takeWords('FIELD')) throw reader.unsupported(stream.peek(), 'ALTER TABLE … DROP PARTITION', 'use DELETE FROM … WHERE');
      return { kind: 'drop-partition-field', item: readPartitionItem(reader, { typed: false }) };
    case 'BRANCH':
    case 'TAG':
      return readDropRef(reader, word === 'BRANCH' ? 'branch' : 'tag');
    case 'IDENTIFIER':
      stream.expectWords('FIELDS');
      return { kind: 'drop-identifier-fields', paths: reader.columnPaths() };
    default:
      return readDropColumns(reader);
  }
}

function readRename(reader: StatementReader): AlterAction {
  const { stream } = reader;
  if (stream.takeWords('TO')) return { kind: 'rename-table', to: reader.objectName() };
  if (!stream.takeWords('COLUMN')) throw stream.unexpected('TO', 'COLUMN');
  const path = stream.expectNameParts('a column name');
  stream.expectWords('TO');
  return { kind: 'rename-column', path, to: stream.expectName('a column name') };
}

function readSet(reader: StatementReader): AlterAction {
  const { stream } = reader;
  if (stream.takeWords('IDENTIFIER', 'FIELDS')) return { kind: 'set-identifier-fields', paths: reader.columnPaths() };
  if (stream.takeWords('TBLPROPERTIES')) return { kind: 'set-properties', properties: reader.tableProperties() };
  if (stream.atWords('LOCATION') || stream.atWords('SERDE'))
    throw reader.unsupported(
      stream.peek(),
      `ALTER TABLE … SET ${stream.peek().value.toUpperCase()}`,
      'a table is its directory: DROP TABLE its name, then CREATE TABLE … LOCATION, or CALL … register_table for Iceberg',
    );
  throw stream.unexpected('TBLPROPERTIES', 'IDENTIFIER');
}

function readReplace(reader: StatementReader): AlterAction {
  const { stream } = reader;
  if (stream.atWords('BRANCH') || stream.atWords('TAG')) return readCreateRef(reader, 'replace');
  if (stream.atWords('COLUMNS'))
    throw reader.unsupported(stream.peek(), 'ALTER TABLE … REPLACE COLUMNS', 'add, drop and rename columns one by one');
  if (!stream.takeWords('PARTITION', 'FIELD')) throw stream.unexpected('PARTITION', 'BRANCH', 'TAG');
  const item = readPartitionItem(reader, { typed: false });
  stream.expectWords('WITH');
  const by = readPartitionItem(reader, { typed: false });
  return { kind: 'replace-partition-field', item, by, ...(stream.takeWords('AS') ? { name: stream.expectName('a field name') } : {}) };
}
