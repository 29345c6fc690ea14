import { joinedText } from './query-text.ts';
import { readInsert } from './row-statements.ts';
import type { InsertStatement, QueryText, Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** `FROM rows INSERT … SELECT … INSERT … SELECT …`: one INSERT after the other, of the same rows; `undefined`: what begins here is none. */
export function readFromInserts(reader: StatementReader): Statement | undefined {
  const { stream } = reader;
  if (!stream.atWords('FROM') || !isFromOfInserts(reader, 0)) return undefined;
  const from = reader.textUntil(ahead(reader, ['INSERT']) ?? 0);
  const inserts: InsertStatement[] = [];
  while (stream.takeWords('INSERT')) inserts.push(readInsert(reader, () => joinedText(from.at, from, ' ', selection(reader))));
  return { kind: 'from-inserts', inserts };
}

/** Whether INSERT stands behind the rows of the FROM that is so many tokens ahead. */
export function isFromOfInserts(reader: StatementReader, from: number): boolean {
  const next = ahead(reader, ['INSERT', 'SELECT'], from);
  return next !== undefined && reader.stream.peek(next).value.toUpperCase() === 'INSERT';
}

/** `SELECT …` up to the next INSERT. */
function selection(reader: StatementReader): QueryText {
  const { stream } = reader;
  if (!stream.atWords('SELECT')) throw stream.unexpected('SELECT');
  const next = ahead(reader, ['INSERT']);
  const joined = ahead(reader, ['UNION', 'INTERSECT']);
  if (joined !== undefined && (next === undefined || joined < next)) throw stream.unexpectedAt(stream.peek(joined), 'INSERT');
  return next === undefined ? reader.query() : reader.textUntil(next);
}

/** How many tokens ahead the next of the words stands that is in no parentheses; of INSERT the one of a statement. */
function ahead({ stream }: StatementReader, words: readonly string[], from = 0): number | undefined {
  let depth = 0;
  for (let place = from; stream.peek(place).kind !== 'end'; place += 1) {
    if (stream.atOperator('(', place)) depth += 1;
    else if (stream.atOperator(')', place)) depth -= 1;
    if (depth > 0 || stream.peek(place).kind !== 'word') continue;
    const [word, after] = [stream.peek(place).value.toUpperCase(), stream.peek(place + 1).value.toUpperCase()];
    if (words.includes(word) && (word !== 'INSERT' || after === 'INTO' || after === 'OVERWRITE')) return place;
  }
  return undefined;
}
