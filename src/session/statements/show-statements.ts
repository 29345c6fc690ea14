import type { ObjectName, Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

const objects = ['CATALOGS', 'DATABASES', 'SCHEMAS', 'NAMESPACES', 'TABLES', 'VIEWS', 'TBLPROPERTIES', 'COLUMNS', 'PARTITIONS', 'CREATE'];

/** After SHOW. */
export function readShow(reader: StatementReader): Statement {
  const { stream } = reader;
  switch (stream.expectOneOf(...objects)) {
    case 'CATALOGS':
      return { kind: 'show-catalogs', ...like(reader) };
    case 'DATABASES':
    case 'SCHEMAS':
    case 'NAMESPACES':
      return { kind: 'show-namespaces', ...inNamespace(reader), ...like(reader) };
    case 'TABLES':
      return { kind: 'show-tables', ...inNamespace(reader), ...like(reader) };
    case 'VIEWS':
      return { kind: 'show-views', ...inNamespace(reader), ...like(reader) };
    case 'TBLPROPERTIES': {
      const name = reader.tableOrPath();
      if (!stream.takeOperator('(')) return { kind: 'show-table-properties', name };
      const key = reader.propertyKey();
      stream.expectOperator(')');
      return { kind: 'show-table-properties', name, key };
    }
    case 'COLUMNS':
      return { kind: 'show-columns', name: readColumnsOf(reader) };
    case 'PARTITIONS':
      return { kind: 'show-partitions', name: reader.tableOrPath(), ...partitionOf(reader) };
    default:
      stream.expectWords('TABLE');
      return { kind: 'show-create-table', name: reader.tableOrPath() };
  }
}

/** `PARTITION (p = 1, …)`. */
function partitionOf({ stream, expressions }: StatementReader): Pick<Extract<Statement, { readonly kind: 'show-partitions' }>, 'values'> {
  if (!stream.takeWords('PARTITION')) return {};
  return {
    values: stream.parenthesised(() => {
      const column = stream.expectName('a partition column');
      stream.expectOperator('=');
      return { column, value: expressions.readOperand() };
    }),
  };
}

/** `IN table [IN database]`. */
function readColumnsOf(reader: StatementReader): ObjectName {
  const { stream } = reader;
  stream.expectOneOf('IN', 'FROM');
  const table = reader.tableOrPath();
  if (stream.takeOneOf('IN', 'FROM') === undefined) return table;
  const namespace = reader.objectName('a namespace');
  return { parts: [...namespace.parts, ...table.parts.slice(-1)], at: table.at };
}

function inNamespace(reader: StatementReader): { readonly in?: ObjectName } {
  return reader.stream.takeOneOf('IN', 'FROM') === undefined ? {} : { in: reader.objectName('a namespace') };
}

function like(reader: StatementReader): { readonly like?: string } {
  const pattern = reader.likePattern();
  return pattern === undefined ? {} : { like: pattern };
}
