import { AnalysisException } from '../../base/analysis-exception.ts';
import { readInterval } from '../../expr/parse/interval-literal.ts';
import { offsetName } from '../../expr/time-zone.ts';
import type { CallArgument, Statement } from './statement.ts';
import type { StatementReader } from './statement-reader.ts';

/** After USE. */
export function readUse(reader: StatementReader): Statement {
  const word = reader.stream.takeOneOf('DATABASE', 'SCHEMA', 'NAMESPACE', 'CATALOG');
  const what = word === undefined ? 'any' : word === 'CATALOG' ? 'catalog' : 'namespace';
  return { kind: 'use', name: reader.objectName(what === 'catalog' ? 'a catalog' : 'a namespace'), what };
}

/** After SET: nothing, `key`, `key = value` (the value to the end of the statement), `CATALOG name` or `TIME ZONE zone`. */
export function readSet(reader: StatementReader): Statement {
  const { stream } = reader;
  if (reader.atStatementEnd()) return { kind: 'set' };
  if (stream.atWords('CATALOG') && !stream.atOperator('=', 1) && !stream.atOperator('.', 1)) {
    stream.next();
    return { kind: 'use', name: reader.objectName('a catalog'), what: 'catalog' };
  }
  if (stream.takeWords('TIME', 'ZONE')) return { kind: 'set', key: 'spark.sql.session.timeZone', value: readZone(reader) };
  const key = readKey(reader);
  if (!stream.takeOperator('=')) return { kind: 'set', key };
  const [first, after] = [stream.peek(), stream.peek(1)];
  if (first.kind === 'string' && (after.kind === 'end' || after.value === ';')) return { kind: 'set', key, value: stream.next().value };
  let end = first.position.offset;
  while (!reader.atStatementEnd()) end = stream.next().end;
  return { kind: 'set', key, value: stream.text.slice(first.position.offset, end) };
}

/** `LOCAL` (the zone of this process), a text, or an interval of hours, minutes and seconds that is the offset. */
function readZone({ stream }: StatementReader): string {
  if (stream.takeWords('LOCAL')) return new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!stream.takeWords('INTERVAL')) return stream.expectString('a time zone');
  const { months, days, micros } = readInterval(stream);
  const name = months === 0 ? offsetName(BigInt(days) * 86_400_000_000n + micros) : undefined;
  if (name === undefined) throw outOfRange();
  return name;
}

function outOfRange(): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE',
    message: 'The interval value must be in the range of [-18, +18] hours with second precision.',
    hint: "write an offset as '+02:00', or a region as 'Europe/Berlin'",
  });
}

/** After RESET. */
export function readReset(reader: StatementReader): Statement {
  return reader.atStatementEnd() ? { kind: 'reset' } : { kind: 'reset', key: readKey(reader) };
}

/** After CALL. */
export function readCall(reader: StatementReader): Statement {
  const { stream } = reader;
  const procedure = reader.objectName('a procedure');
  stream.expectOperator('(');
  const given = stream.atOperator(')') ? [] : stream.list(() => readArgument(reader));
  stream.expectOperator(')');
  return { kind: 'call', procedure, arguments: given };
}

function readArgument(reader: StatementReader): CallArgument {
  const { stream } = reader;
  const named = stream.peek().kind === 'word' && stream.atOperator('=>', 1);
  if (!named) return { value: reader.expression() };
  const name = stream.expectName();
  stream.expectOperator('=>');
  return { name, value: reader.expression() };
}

// Keys may hold dashes: `spark.sql.catalog.my-catalog`.
function readKey(reader: StatementReader): string {
  const { stream } = reader;
  if (stream.peek().kind === 'quoted-name' || stream.peek().kind === 'string') return stream.next().value;
  const from = stream.position.offset;
  stream.expectName('a key');
  while (stream.atOperator('.') || stream.atOperator('-') || stream.atOperator(':')) {
    stream.next();
    if (stream.peek().kind === 'number') stream.next();
    else stream.expectName('a key');
  }
  return stream.text.slice(from, stream.peek(-1).end);
}
