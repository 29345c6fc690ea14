import { assertNever } from '../../base/assert.ts';
import { serviceError } from '../../base/errors.ts';
import { appendText, type BinaryForm, binaryScalar } from './binary-scalars.ts';
import type { EventPart, EventShape } from './event-shape.ts';
import { EventSteps } from './event-steps.ts';
import { type Item, isNull, type Member, type Notation, type Written } from './notation.ts';
import { requiredWriter } from './null-in-required.ts';
import type { RecordBuffer } from './record-buffer.ts';
import type { Scalar, ValueWriter } from './scalars.ts';

// The branches of a union with null first, as they are encoded.
const nullBranch = 0;
const valueBranch = 2;
const empty = new Uint8Array(0);
const two32 = 4_294_967_296;

const form: BinaryForm = {
  lengthUnit: 2,
  integer: (out, value) => {
    out.zigzag(value);
  },
  long: (out, low, high) => {
    out.zigzag64(low, high);
  },
};

/** Avro's binary encoding, by the schema that `avroSchema` makes. */
export const avroNotation: Notation = {
  scalar: (scalar) => binaryScalar(scalar, form),
  struct: (members) => written(membersWriter(members)),
  members: membersWriter,
  end: empty,
  list: listOf,
  map: mapOf,
  image: (write) => (out, index) => {
    if (index < 0) out.byte(nullBranch);
    else {
      out.byte(valueBranch);
      write(out, index);
    }
  },
  steps: (shape) => {
    const steps = new EventSteps();
    appendStruct(steps, shape);
    return steps.finish();
  },
  numberSize: () => 0,
  number: appendLong,
};

function written(write: ValueWriter): Written {
  return { write, wire: 2 };
}

function itemWriter(item: Item): ValueWriter {
  if (!item.optional) return requiredWriter(item);
  const { write } = item;
  return (out, index) => {
    if (isNull(item, index)) out.byte(nullBranch);
    else {
      out.byte(valueBranch);
      write(out, index);
    }
  };
}

function membersWriter(members: readonly Member[]): ValueWriter {
  const writers = members.map(itemWriter);
  return (out, index) => {
    for (const write of writers) write(out, index);
  };
}

/** One block of all items, and the empty one that ends them. */
function listOf(items: Item, offsets: Int32Array): Written {
  const write = itemWriter(items);
  return written((out, index) => {
    const from = offsets[index] ?? 0;
    const until = offsets[index + 1] ?? from;
    if (until > from) out.zigzag(until - from);
    for (let at = from; at < until; at++) write(out, at);
    out.byte(0);
  });
}

function mapOf(keys: Scalar, values: Item, offsets: Int32Array): Written {
  const { write: writeKey } = binaryScalar(keys, form);
  const writeValue = itemWriter(values);
  return written((out, index) => {
    const from = offsets[index] ?? 0;
    const until = offsets[index + 1] ?? from;
    if (until > from) out.zigzag(until - from);
    for (let at = from; at < until; at++) {
      writeKey(out, at);
      writeValue(out, at);
    }
    out.byte(0);
  });
}

function appendLong(out: RecordBuffer, value: number): void {
  out.zigzag64(value | 0, Math.floor(value / two32));
}

function appendStruct(steps: EventSteps, { hasRow, members }: EventShape): void {
  if (hasRow) steps.add({ kind: 'row' });
  for (const { part, optional } of members) {
    if (optional === true) steps.bytes.byte(part.kind === 'none' ? nullBranch : valueBranch);
    appendPart(steps, part);
  }
}

function appendPart(steps: EventSteps, part: EventPart): void {
  switch (part.kind) {
    case 'text':
    case 'named-text':
      appendText(steps.bytes, part.value, form.lengthUnit);
      return;
    case 'long':
      appendLong(steps.bytes, part.value);
      return;
    case 'boolean':
      steps.bytes.byte(part.value ? 1 : 0);
      return;
    case 'ordinal':
    case 'event-number':
      steps.add({ kind: part.kind });
      return;
    case 'none':
      return;
    case 'image':
      steps.add({ kind: 'image', image: part.image, tag: empty });
      return;
    case 'struct':
      appendStruct(steps, part);
      return;
    case 'text-and-ordinal':
      throw serviceError.internal('ASSERTION_FAILED', 'events with such text are JSON');
    default:
      assertNever(part);
  }
}
