import { printJson } from '../base/bigint-json.ts';
import type { EncodeTask } from '../protocol/change-event.ts';
import { appendRow, type ChangeEvent, type EventEnvelope, type Operation } from './envelope.ts';
import type { JsonBuffer } from './json-buffer.ts';
import type { RowWriters } from './row-writers.ts';

/** Header that tells a CloudEvent in structured mode (CloudEvents, Kafka protocol binding 3.3). */
export const cloudEventContentType: string = 'application/cloudevents+json; charset=UTF-8';

const words: Readonly<Record<Operation, string>> = { c: 'created', u: 'updated', d: 'deleted', r: 'read' };

/** Appends CloudEvents 1.0 in JSON (structured mode): attributes of the change, `data` with both images of the row. */
export class CloudEventEnvelope implements EventEnvelope {
  readonly #idStart: Uint8Array;
  readonly #rest: Readonly<Record<Operation, Uint8Array>>;

  constructor(task: EncodeTask) {
    const { version, link } = task.changes;
    // The same of every record that is ever published of this row, and of no other.
    const place = [link?.id ?? String(version), ...(task.snapshot ? ['snapshot'] : [])].join(':');
    this.#idStart = Buffer.from(`{"specversion":"1.0","id":${printJson(`${place}:`).slice(0, -1)}`, 'utf8');
    this.#rest = { c: attributes(task, 'c'), u: attributes(task, 'u'), d: attributes(task, 'd'), r: attributes(task, 'r') };
  }

  append(out: JsonBuffer, rows: RowWriters, { operation, before, after, ordinal }: ChangeEvent): boolean {
    out.chunk(this.#idStart);
    out.integer(ordinal);
    out.chunk(this.#rest[operation]);
    appendRow(out, rows, before);
    out.ascii(',"after":');
    appendRow(out, rows, after);
    out.ascii('}}');
    return true;
  }
}

function attributes({ spec, changes, snapshot }: EncodeTask, operation: Operation): Uint8Array {
  const rest = printJson({
    source: `/tidewater/${encodeURIComponent(spec.pipeline)}/${encodeURIComponent(spec.table)}`,
    type: `tidewater.row.${words[operation]}`,
    subject: spec.table,
    time: new Date(changes.committedAt).toISOString(),
    datacontenttype: 'application/json',
    op: operation,
    // Integers of CloudEvents have 32 bits.
    tableversion: String(changes.version),
    snapshot,
  });
  return Buffer.from(`",${rest.slice(1, -1)},"data":{"before":`, 'utf8');
}
