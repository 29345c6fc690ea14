import { readColumnDefinition } from '../../expr/parse/column-definition.ts';
import { syntaxError } from '../../expr/parse/syntax-error.ts';
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

/** Those that take a number beside the column. */
const numbered: ReadonlySet<string> = new Set(['bucket', 'truncate']);

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
  if (stream.peek().kind === 'string') throw notTransform(reader, '_LEGACY_ERROR_TEMP_0031', `${name} takes a number, not a text`);
  const path = stream.expectNameParts('a column name');
  if (parameter === undefined && stream.atOperator(',')) {
    if (!numbered.has(name))
      throw notTransform(reader, 'INVALID_SQL_SYNTAX.TRANSFORM_WRONG_NUM_ARGS', `the transform ${name} requires 1 parameter`);
    stream.next();
    parameter = reader.count('a number');
  }
  stream.expectOperator(')');
  return { kind: 'transform', name, ...(parameter === undefined ? {} : { parameter }), path };
}

function notTransform({ stream }: StatementReader, errorClass: string, message: string): Error {
  const { position, value } = stream.peek();
  return syntaxError({ text: stream.text, position, found: value, errorClass, message });
}
