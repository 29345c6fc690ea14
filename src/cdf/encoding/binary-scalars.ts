import { assertNever } from '../../base/assert.ts';
import type { WireType, Written } from './notation.ts';
import type { RecordBuffer } from './record-buffer.ts';
import { type Scalar, type ValueWriter, wordsOf } from './scalars.ts';

/** What tells Avro's bytes of values without parts from Protobuf's. */
export interface BinaryForm {
  /** What a length of one is written as: lengths are zigzag in Avro, plain in Protobuf. */
  readonly lengthUnit: 1 | 2;
  readonly integer: (out: RecordBuffer, value: number) => void;
  /** A long by its low and its high word. */
  readonly long: (out: RecordBuffer, low: number, high: number) => void;
}

const wires: Readonly<Record<Scalar['kind'], WireType>> = {
  boolean: 0,
  integer: 0,
  long: 0,
  float: 5,
  double: 1,
  utf8: 2,
  bytes: 2,
  blob: 2,
  ascii: 2,
  text: 2,
  json: 2,
};

export function binaryScalar(scalar: Scalar, form: BinaryForm): Written {
  return { wire: wires[scalar.kind], write: writerOf(scalar, form) };
}

function writerOf(scalar: Scalar, { lengthUnit, integer, long }: BinaryForm): ValueWriter {
  switch (scalar.kind) {
    case 'boolean': {
      const { bits } = scalar;
      return (out, index) => {
        out.byte(((bits[index >> 3] ?? 0) >> (index & 7)) & 1);
      };
    }
    case 'integer':
      return (out, index) => {
        integer(out, scalar.at(index));
      };
    case 'long': {
      const words = wordsOf(scalar.values);
      return (out, index) => {
        long(out, words[2 * index] ?? 0, words[2 * index + 1] ?? 0);
      };
    }
    case 'float':
      return (out, index) => {
        out.float(scalar.at(index));
      };
    case 'double':
      return (out, index) => {
        out.double(scalar.at(index));
      };
    case 'utf8':
    case 'bytes': {
      const { offsets, data } = scalar;
      return (out, index) => {
        const from = offsets[index] ?? 0;
        const until = offsets[index + 1] ?? from;
        out.varint(lengthUnit * (until - from));
        out.range(data, from, until);
      };
    }
    case 'blob':
    case 'ascii':
      return sized(scalar.write, lengthUnit);
    case 'text':
    case 'json':
      return (out, index) => {
        appendText(out, scalar.at(index), lengthUnit);
      };
    default:
      return assertNever(scalar);
  }
}

/** With its length in front of it. */
export function sized(write: ValueWriter, lengthUnit: BinaryForm['lengthUnit']): ValueWriter {
  return (out, index) => {
    const start = out.openSized();
    write(out, index);
    out.closeSized(start, lengthUnit);
  };
}

export function appendText(out: RecordBuffer, text: string, lengthUnit: BinaryForm['lengthUnit']): void {
  const bytes = Buffer.from(text, 'utf8');
  out.varint(lengthUnit * bytes.length);
  out.chunk(bytes);
}
