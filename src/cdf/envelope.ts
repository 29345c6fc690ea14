import { printJson } from '../base/bigint-json.ts';
import type { EncodeTask } from '../protocol/change-event.ts';
import type { VersionChanges } from '../table/changes.ts';
import { changeTypes } from './change-order.ts';
import type { JsonBuffer } from './json-buffer.ts';
import type { RowWriters } from './row-writers.ts';

/** Version of the event's shape, in `source.version`; its history is in docs/spec/change-event.md. */
export const changeEventVersion = '1';

export type Operation = 'c' | 'u' | 'd' | 'r';

/** One change: `before` and `after` are rows, -1 where there is none. */
export interface ChangeEvent {
  readonly operation: Operation;
  readonly before: number;
  readonly after: number;
  readonly ordinal: number;
}

/** How changes become values of records. */
export interface EventEnvelope {
  /** Appends the value; false: it is null. */
  append(out: JsonBuffer, rows: RowWriters, event: ChangeEvent): boolean;
}

interface OperationText {
  readonly beforeSequence: Uint8Array;
  readonly beforeOrder: Uint8Array;
  readonly end: Uint8Array;
}

/** Appends Debezium-like events of one version. Everything that is the same for all its rows is printed once. */
export class DebeziumEnvelope implements EventEnvelope {
  readonly #operations: Readonly<Record<Operation, OperationText>>;

  constructor(task: EncodeTask) {
    this.#operations = {
      c: operationText(task, 'c'),
      u: operationText(task, 'u'),
      d: operationText(task, 'd'),
      r: operationText(task, 'r'),
    };
  }

  append(out: JsonBuffer, rows: RowWriters, event: ChangeEvent): boolean {
    const text = this.#operations[event.operation];
    out.ascii('{"before":');
    appendRow(out, rows, event.before);
    out.ascii(',"after":');
    appendRow(out, rows, event.after);
    out.chunk(text.beforeSequence);
    out.integer(event.ordinal);
    out.chunk(text.beforeOrder);
    out.integer(event.ordinal);
    out.chunk(text.end);
    return true;
  }
}

/** Appends the row as it is behind the change: an upsert, and nothing for a delete. */
export const afterEnvelope: EventEnvelope = {
  append: (out, rows, { after }) => {
    if (after < 0) return false;
    appendRow(out, rows, after);
    return true;
  },
};

/** Appends rows as Delta's own change feed shows them: the row and three members about the change. */
export class FlatEnvelope {
  readonly #tails: readonly Uint8Array[];

  constructor(changes: Pick<VersionChanges, 'version' | 'committedAt'>) {
    const { version, committedAt } = changes;
    const instant = new Date(committedAt).toISOString().replace('Z', '000Z');
    this.#tails = changeTypes.map((type) =>
      Buffer.from(`,"_change_type":"${type}","_commit_version":${version},"_commit_timestamp":"${instant}"}`, 'latin1'),
    );
  }

  append(out: JsonBuffer, rows: RowWriters, event: { readonly row: number; readonly code: number }): void {
    rows.openRow(out, event.row);
    const tail = this.#tails[event.code];
    if (tail !== undefined) out.chunk(tail);
  }
}

/** The row as an object; null for -1. */
export function appendRow(out: JsonBuffer, rows: RowWriters, row: number): void {
  if (row < 0) {
    out.ascii('null');
    return;
  }
  rows.openRow(out, row);
  out.byte(0x7d);
}

function operationText(task: EncodeTask, operation: Operation): OperationText {
  const { spec, changes, snapshot } = task;
  const { database, table } = splitName(spec.table);
  const committedMs: number = changes.committedAt;
  const source = printJson({
    version: changeEventVersion,
    connector: spec.format,
    name: spec.pipeline,
    db: database,
    table,
    ts_ms: committedMs,
    snapshot: snapshot ? 'true' : 'false',
    tableVersion: changes.version,
  });
  const transaction = printJson({ id: `${spec.table}:${changes.version}` });
  return {
    beforeSequence: utf8(`,"source":${source.slice(0, -1)},"seq":`),
    beforeOrder: utf8(
      `},"op":"${operation}","ts_ms":${committedMs},"ts_us":${committedMs * 1000},"transaction":${transaction.slice(0, -1)},"total_order":`,
    ),
    end: utf8('}}'),
  };
}

/** `sales.orders` is table `orders` of `sales`; a name without a dot belongs to `default`. */
function splitName(name: string): { readonly database: string; readonly table: string } {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? { database: 'default', table: name } : { database: name.slice(0, dot), table: name.slice(dot + 1) };
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}
