import { printJson } from '../../../base/bigint-json.ts';
import { isUtf8 } from '../utf8.ts';
import { ValueRefused } from '../value-refused.ts';
import { type WireCursor, WireFault, wire } from './wire-cursor.ts';

const maxDepth = 64;

/** Writes `google.protobuf.Struct`, `Value` and `ListValue`, which stand for JSON, as JSON. `undefined` for any other name. */
export function jsonOfStruct(name: string, where: string): ((cursor: WireCursor) => string) | undefined {
  const write = writers.get(name);
  return write === undefined ? undefined : (cursor) => write(cursor, { where, depth: 0 });
}

interface Place {
  readonly where: string;
  readonly depth: number;
}

type Write = (cursor: WireCursor, place: Place) => string;

const writers: ReadonlyMap<string, Write> = new Map([
  ['google.protobuf.Struct', structText],
  ['google.protobuf.Value', valueText],
  ['google.protobuf.ListValue', listText],
]);

/** Calls `read` for each field with the cursor in its value, whose end is the cursor's end. */
function eachField(cursor: WireCursor, read: (number: number, wireType: number) => void): void {
  const { end } = cursor;
  while (cursor.at < end) {
    cursor.tag();
    const { number, wireType } = cursor;
    if (wireType !== wire.bytes) {
      const from = cursor.at;
      cursor.skip();
      const until = cursor.at;
      cursor.at = from;
      cursor.end = until;
      read(number, wireType);
      cursor.at = until;
    } else {
      const until = cursor.length() + cursor.at;
      cursor.end = until;
      read(number, wireType);
      cursor.at = until;
    }
    cursor.end = end;
  }
}

function structText(cursor: WireCursor, place: Place): string {
  const inner = deeper(place);
  const members = new Map<string, string>();
  eachField(cursor, (number) => {
    if (number !== 1) return;
    let key = '';
    let value = 'null';
    eachField(cursor, (part, wireType) => {
      if (wireType !== wire.bytes) return;
      if (part === 1) key = textAt(cursor, place);
      else if (part === 2) value = valueText(cursor, inner);
    });
    members.set(key, value);
  });
  return `{${[...members].map(([key, value]) => `${printJson(key)}:${value}`).join(',')}}`;
}

function listText(cursor: WireCursor, place: Place): string {
  const inner = deeper(place);
  const values: string[] = [];
  eachField(cursor, (number, wireType) => {
    if (number === 1 && wireType === wire.bytes) values.push(valueText(cursor, inner));
  });
  return `[${values.join(',')}]`;
}

function valueText(cursor: WireCursor, place: Place): string {
  let text = 'null';
  eachField(cursor, (number, wireType) => {
    if (number === 1 && wireType === wire.varint) text = 'null';
    else if (number === 2 && wireType === wire.fixed64) text = numberText(cursor.double(), place);
    else if (number === 4 && wireType === wire.varint) {
      cursor.varint();
      text = (cursor.low | cursor.high) === 0 ? 'false' : 'true';
    } else if (wireType !== wire.bytes) return;
    else if (number === 3) text = printJson(textAt(cursor, place));
    else if (number === 5) text = structText(cursor, deeper(place));
    else if (number === 6) text = listText(cursor, deeper(place));
  });
  return text;
}

function numberText(value: number, { where }: Place): string {
  if (!Number.isFinite(value)) throw new ValueRefused(where, 'out-of-range', `${value} is no number of JSON`);
  return Object.is(value, -0) ? '-0' : String(value);
}

function textAt({ bytes, at, end }: WireCursor, { where }: Place): string {
  if (!isUtf8(bytes, at, end)) throw new ValueRefused(where, 'invalid-utf8', 'has text that is not valid UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('utf8');
}

function deeper({ where, depth }: Place): Place {
  if (depth >= maxDepth) throw new WireFault(`values nest deeper than ${maxDepth} levels`);
  return { where, depth: depth + 1 };
}
