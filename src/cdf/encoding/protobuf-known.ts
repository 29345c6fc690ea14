import { assert } from '../../base/assert.ts';
import { civilDate } from '../../schema/date-text.ts';
import { decimalName } from './event-type.ts';
import type { RecordBuffer } from './record-buffer.ts';
import type { Scalar, ValueWriter } from './scalars.ts';

/** A message that everybody knows, which a value of some meaning is told as. */
export interface KnownMessage {
  readonly name: string;
  readonly file: string;
  readonly writer: (scalar: Scalar, parameters: Readonly<Record<string, string>>) => ValueWriter;
}

const millisPerSecond = 1_000n;
const nanosPerMilli = 1_000_000;

/** By the name that Connect has for the meaning, as Confluent's Protobuf converter tells them. */
export const knownMessages: Readonly<Record<string, KnownMessage>> = {
  [decimalName]: {
    name: 'confluent.type.Decimal',
    file: 'confluent/type/decimal.proto',
    writer: (scalar, parameters) => {
      assert(scalar.kind === 'blob', 'precise decimals are bytes');
      const precision = Number(parameters['connect.decimal.precision']);
      const scale = Number(parameters['scale']);
      return (out, index) => {
        out.byte(0x0a);
        const start = out.openSized();
        scalar.write(out, index);
        out.closeSized(start, 1);
        appendField(out, 2, precision);
        appendField(out, 3, scale);
      };
    },
  },
  'org.apache.kafka.connect.data.Date': {
    name: 'google.type.Date',
    file: 'google/type/date.proto',
    writer: (scalar) => {
      assert(scalar.kind === 'integer', 'dates are days');
      return (out, index) => {
        const { year, month, day } = civilDate(scalar.at(index));
        appendField(out, 1, year);
        appendField(out, 2, month);
        appendField(out, 3, day);
      };
    },
  },
  'org.apache.kafka.connect.data.Time': {
    name: 'google.type.TimeOfDay',
    file: 'google/type/timeofday.proto',
    writer: (scalar) => {
      assert(scalar.kind === 'integer', 'times are milliseconds');
      return (out, index) => {
        const millis = scalar.at(index);
        const seconds = Math.floor(millis / 1_000);
        appendField(out, 1, Math.floor(seconds / 3_600));
        appendField(out, 2, Math.floor(seconds / 60) % 60);
        appendField(out, 3, seconds % 60);
        appendField(out, 4, (millis % 1_000) * nanosPerMilli);
      };
    },
  },
  'org.apache.kafka.connect.data.Timestamp': {
    name: 'google.protobuf.Timestamp',
    file: 'google/protobuf/timestamp.proto',
    writer: (scalar) => {
      assert(scalar.kind === 'long', 'timestamps are milliseconds');
      return (out, index) => {
        const millis = scalar.values[index] ?? 0n;
        const rest = ((millis % millisPerSecond) + millisPerSecond) % millisPerSecond;
        appendField(out, 1, Number((millis - rest) / millisPerSecond));
        appendField(out, 2, Number(rest) * nanosPerMilli);
      };
    },
  },
};

/** A whole number as one of a message's first fields; zero is what an absent one is. */
function appendField(out: RecordBuffer, number: number, value: number): void {
  if (value === 0) return;
  out.byte(number * 8);
  out.varint64(value | 0, Math.floor(value / 4_294_967_296));
}
