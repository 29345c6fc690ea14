import { assert, assertNever } from '../../base/assert.ts';
import { serviceError } from '../../base/errors.ts';
import { appendText, type BinaryForm, binaryScalar, sized } from './binary-scalars.ts';
import type { EventMember, EventPart, EventShape } from './event-shape.ts';
import { type EventStep, EventSteps, type NumberSizes, sizeOfSteps } from './event-steps.ts';
import { type Item, isNull, type Member, type Notation, type WireType, type Written } from './notation.ts';
import { requiredWriter } from './null-in-required.ts';
import { knownMessages } from './protobuf-known.ts';
import { RecordBuffer, varintBytes } from './record-buffer.ts';
import type { ValueWriter } from './scalars.ts';

const two32 = 4_294_967_296;

const form: BinaryForm = {
  lengthUnit: 1,
  integer: (out, value) => {
    out.varint64(value, value >> 31);
  },
  long: (out, low, high) => {
    out.varint64(low, high);
  },
};

/** Protobuf's binary encoding, by the schema that `protobufSchema` makes: what is null is absent. */
export const protobufNotation: Notation = {
  scalar: (scalar, { name, parameters }) => {
    const known = name === undefined ? undefined : knownMessages[name];
    return known === undefined ? binaryScalar(scalar, form) : { wire: 2, write: sizedMessage(known.writer(scalar, parameters ?? {})) };
  },
  struct: (members) => ({ wire: 2, write: sizedMessage(membersWriter(members)) }),
  members: membersWriter,
  end: new Uint8Array(0),
  list: listOf,
  map: () => {
    assert(false, 'maps are lists of entries');
  },
  image: (write) => {
    const writeSized = sizedMessage(write);
    return (out, index, tag) => {
      if (index < 0) return;
      out.chunk(tag);
      writeSized(out, index);
    };
  },
  steps: structSteps,
  numberSize: varintBytes,
  number: (out, number) => {
    out.varint(number);
  },
};

function sizedMessage(write: ValueWriter): ValueWriter {
  return sized(write, form.lengthUnit);
}

function itemWriter(item: Item, number: number): ValueWriter {
  const tag = tagOf(number, item.wire);
  const write = item.optional ? item.write : requiredWriter(item);
  return (out, index) => {
    if (item.optional && isNull(item, index)) return;
    out.chunk(tag);
    write(out, index);
  };
}

function membersWriter(members: readonly Member[]): ValueWriter {
  const writers = members.map((member) => itemWriter(member, member.number));
  return (out, index) => {
    for (const write of writers) write(out, index);
  };
}

/** A message of the items; items that can be null are messages too. */
function listOf(items: Item, offsets: Int32Array): Written {
  const write = items.optional ? nullableItem(items) : itemWriter(items, 1);
  return {
    wire: 2,
    write: sizedMessage((out, index) => {
      const from = offsets[index] ?? 0;
      const until = offsets[index + 1] ?? from;
      for (let at = from; at < until; at++) write(out, at);
    }),
  };
}

function nullableItem(items: Item): ValueWriter {
  const write = sizedMessage(itemWriter(items, 1));
  const tag = tagOf(1, 2);
  return (out, index) => {
    out.chunk(tag);
    write(out, index);
  };
}

function tagOf(number: number, wire: WireType): Uint8Array {
  const out = new RecordBuffer();
  out.varint(number * 8 + wire);
  return out.copy();
}

function structSteps({ hasRow, members }: EventShape, sizes: NumberSizes): readonly EventStep[] {
  const steps = new EventSteps();
  if (hasRow) steps.add({ kind: 'row' });
  members.forEach((member, position) => {
    appendMember(steps, member, { position, sizes });
  });
  return steps.finish();
}

function appendMember(
  steps: EventSteps,
  { number, part }: EventMember,
  at: { readonly position: number; readonly sizes: NumberSizes },
): void {
  if (part.kind === 'none') return;
  const tag = tagOf(number ?? at.position + 1, wireOf(part));
  if (part.kind === 'image') {
    steps.add({ kind: 'image', image: part.image, tag });
    return;
  }
  steps.bytes.chunk(tag);
  switch (part.kind) {
    case 'text':
    case 'named-text':
      appendText(steps.bytes, part.value, form.lengthUnit);
      return;
    case 'long':
      steps.bytes.varint64(part.value | 0, Math.floor(part.value / two32));
      return;
    case 'boolean':
      steps.bytes.byte(part.value ? 1 : 0);
      return;
    case 'ordinal':
    case 'event-number':
      steps.add({ kind: part.kind });
      return;
    case 'struct': {
      const inner = structSteps(part, at.sizes);
      assert(
        inner.every(({ kind }) => kind !== 'row' && kind !== 'image'),
        'rows are members of the event itself',
      );
      steps.bytes.varint(sizeOfSteps(inner, at.sizes));
      steps.append(inner);
      return;
    }
    case 'text-and-ordinal':
      throw serviceError.internal('ASSERTION_FAILED', 'events with such text are JSON');
    default:
      assertNever(part);
  }
}

function wireOf({ kind }: EventPart): WireType {
  return kind === 'long' || kind === 'boolean' || kind === 'ordinal' || kind === 'event-number' ? 0 : 2;
}
