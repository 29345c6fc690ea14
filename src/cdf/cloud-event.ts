import type { EncodeTask } from '../protocol/change-event.ts';
import type { Operation } from './change-order.ts';
import type { EventMember, EventShape } from './encoding/event-shape.ts';

/** Header that tells a CloudEvent in structured mode (CloudEvents, Kafka protocol binding 3.3). */
export const cloudEventContentType: string = 'application/cloudevents+json; charset=UTF-8';

const types: Readonly<Record<Operation, string>> = {
  c: 'tidewater.row.created',
  u: 'tidewater.row.updated',
  d: 'tidewater.row.deleted',
  r: 'tidewater.row.read',
  t: 'tidewater.table.truncated',
};

/** What is the same for all events of an operation in a version; the ordinal ends the id. */
interface CloudEventAttributes {
  readonly idStart: string;
  readonly rest: Readonly<Record<string, string | boolean>>;
}

/** The attributes of CloudEvents 1.0. */
function attributesOf({ spec, changes, snapshot }: EncodeTask, operation: Operation, contentType: string): CloudEventAttributes {
  // The same of every record that is ever published of this row, and of no other.
  const place = [changes.link?.id ?? String(changes.version), ...(snapshot ? ['snapshot'] : [])].join(':');
  return {
    idStart: `${place}:`,
    rest: {
      source: `/tidewater/${encodeURIComponent(spec.pipeline)}/${encodeURIComponent(spec.table)}`,
      type: types[operation],
      subject: spec.table,
      time: new Date(changes.committedAt).toISOString(),
      datacontenttype: contentType,
      op: operation,
      // Integers of CloudEvents have 32 bits.
      tableversion: String(changes.version),
      snapshot,
    },
  };
}

/** CloudEvents 1.0 in JSON (structured mode): attributes of the change, `data` with both images of the row. */
export function cloudEventShape(task: EncodeTask, operation: Operation): EventShape {
  const { idStart, rest } = attributesOf(task, operation, 'application/json');
  const members: readonly EventMember[] = [
    { name: 'specversion', part: { kind: 'text', value: '1.0' } },
    { name: 'id', part: { kind: 'text-and-ordinal', value: idStart } },
    ...Object.entries(rest).map(
      ([name, value]): EventMember =>
        typeof value === 'boolean' ? { name, part: { kind: 'boolean', value } } : { name, part: { kind: 'text', value } },
    ),
    { name: 'data', part: { kind: 'struct', hasRow: false, members: imageMembers } },
  ];
  return { hasRow: false, members };
}

const imageMembers: readonly EventMember[] = [
  { name: 'before', part: { kind: 'image', image: 'before' } },
  { name: 'after', part: { kind: 'image', image: 'after' } },
];

/** The value of a CloudEvent in binary mode: both images of the row. */
export function imagesShape(topic: string): EventShape {
  return { name: `${topic}.Envelope`, version: 1, hasRow: false, members: imageMembers };
}

/** The headers of an event in binary mode (CloudEvents, Kafka protocol binding 3.2); that of the id ends with the ordinal. */
export function cloudEventHeaders(
  task: EncodeTask,
  operation: Operation,
): { readonly idStart: string; readonly texts: ReadonlyMap<string, string> } {
  const contentType = contentTypes[task.spec.records.encoding];
  const { idStart, rest } = attributesOf(task, operation, contentType);
  const texts = new Map<string, string>([
    ['content-type', contentType],
    ['ce_specversion', '1.0'],
  ]);
  for (const [name, value] of Object.entries(rest)) if (name !== 'datacontenttype') texts.set(`ce_${name}`, String(value));
  return { idStart, texts };
}

const contentTypes = {
  json: 'application/json',
  'json-schema': 'application/json',
  avro: 'application/avro',
  protobuf: 'application/protobuf',
} as const;
