import { readColumnDefinition } from '../../expr/parse/column-definition.ts';
import type { PartitionItem } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

const transforms = [
  'identity',
  'bucket',
  'truncate',
  'year',
  'years',
  'month',
  'months',
  'day',
  'days',
  'hour',
  'hours',
  'date',
  'date_hour',
  'void',
  'zorder',
];

/** `column`, `bucket(4, column)`, `days(ts)`, and where a table is created `column TYPE`. */
export function readPartitionItem(reader: StatementReader, { typed }: { readonly typed: boolean }): PartitionItem {
  const { stream } = reader;
  if (stream.atOperator('(', 1)) return readTransform(reader);
  const after = stream.peek(1);
  if (typed && after.kind === 'word') return { kind: 'typed-column', field: readColumnDefinition(stream, reader.expressions) };
  return { kind: 'column', path: stream.expectNameParts('a column name') };
}

function readTransform(reader: StatementReader): PartitionItem {
  const { stream } = reader;
  const token = stream.peek();
  const name = stream.expectName('a transform').toLowerCase();
  if (!transforms.includes(name)) throw stream.unexpectedAt(token, ...transforms);
  stream.expectOperator('(');
  // The number may stand on either side of the column.
  let parameter = stream.peek().kind === 'number' ? reader.count('a number') : undefined;
  if (parameter !== undefined) stream.expectOperator(',');
  const path = stream.expectNameParts('a column name');
  if (parameter === undefined && stream.takeOperator(',')) parameter = reader.count('a number');
  stream.expectOperator(')');
  return { kind: 'transform', name, ...(parameter === undefined ? {} : { parameter }), path };
}
