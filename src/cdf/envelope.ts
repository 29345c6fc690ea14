import { assertNever, present } from '../base/assert.ts';
import type { EncodeTask } from '../protocol/change-event.ts';
import type { ChangeType, VersionChanges } from '../table/changes.ts';
import { changeTypes, type Operation } from './change-order.ts';
import { cloudEventShape, imagesShape } from './cloud-event.ts';
import type { EventMember, EventPart, EventShape } from './encoding/event-shape.ts';
import type { EventStep } from './encoding/event-steps.ts';
import type { Notation } from './encoding/notation.ts';
import type { RecordBuffer } from './encoding/record-buffer.ts';
import type { RowWriters } from './row-writers.ts';

/** Version of the event's shape, in `source.version`; its history is in docs/spec/change-event.md. */
export const changeEventVersion = '1';

/** One change: `before` and `after` are rows, -1 where there is none. */
export interface ChangeEvent {
  readonly operation: Operation;
  readonly before: number;
  readonly after: number;
  readonly ordinal: number;
  /** Of the event in its version, from 1. */
  readonly number: number;
}

/** What an envelope is told of: of a change with both images, and of a row of the flat envelope. */
export type ChangeOf = { readonly operation: Operation } | { readonly changeType: ChangeType };

/** What the value of a record consists of; what is the same for all rows of a version is in it. */
export function eventShape(task: EncodeTask, of: ChangeOf): EventShape {
  const { envelope, topic } = task.spec;
  switch (envelope) {
    case 'debezium':
      return debeziumShape(task, 'operation' in of ? of.operation : 'c');
    case 'flat':
      return { ...flatShape(task.changes, 'changeType' in of ? of.changeType : 'insert'), name: `${topic}.Value` };
    case 'after':
      return { name: `${topic}.Value`, hasRow: true, members: [] };
    case 'cloudevents':
      return task.spec.records.cloudEventMode === 'binary'
        ? imagesShape(topic)
        : cloudEventShape(task, 'operation' in of ? of.operation : 'c');
    default:
      return assertNever(envelope);
  }
}

function debeziumShape({ spec, changes, snapshot }: EncodeTask, operation: Operation): EventShape {
  const { database, table } = splitName(spec.table);
  const committedMs: number = changes.committedAt;
  const id = text('id', transactionIdOf(spec.table, changes.version));
  const members: readonly EventMember[] = [
    { name: 'before', part: { kind: 'image', image: 'before' } },
    { name: 'after', part: { kind: 'image', image: 'after' } },
    {
      name: 'source',
      part: struct('tidewater.Source', [
        text('version', changeEventVersion),
        text('connector', spec.format),
        text('name', spec.pipeline),
        text('db', database),
        text('table', table),
        long('ts_ms', committedMs),
        text('snapshot', snapshot ? 'true' : 'false'),
        long('tableVersion', changes.version),
        ordinal('seq'),
      ]),
    },
    text('op', operation),
    long('ts_ms', committedMs),
    long('ts_us', committedMs * 1000),
    spec.transactions ? countedTransaction(id, snapshot) : { name: 'transaction', part: transaction([id, ordinal('total_order')]) },
  ];
  return { name: `${spec.topic}.Envelope`, version: 1, hasRow: false, members };
}

/** Which version of which table: the id of what Debezium calls a transaction. */
export function transactionIdOf(table: string, version: number): string {
  return `${table}:${version}`;
}

/** With the number of the event: a feed has one table, so that it is that of its data collection too. Rows of a snapshot are in none. */
function countedTransaction(id: EventMember, snapshot: boolean): EventMember {
  const part = { kind: 'event-number' } as const;
  const block = transaction([id, { name: 'total_order', part }, { name: 'data_collection_order', optional: true, part }]);
  return { name: 'transaction', optional: true, part: snapshot ? { kind: 'none', of: block } : block };
}

/** The numbers of the members behind the row, which no column has: brokers of schemas see the same ones whatever columns come. */
const firstNumberBehindRow = 536_870_909;

/** The row as Delta's own change feed shows it. */
export function flatShape({ version, committedAt }: Pick<VersionChanges, 'version' | 'committedAt'>, changeType: ChangeType): EventShape {
  const value = new Date(committedAt).toISOString().replace('Z', '000Z');
  const members = [
    text('_change_type', changeType),
    long('_commit_version', version),
    { name: '_commit_timestamp', part: { kind: 'named-text', value, name: 'io.debezium.time.ZonedTimestamp' } as const },
  ];
  const numbered = members.map((member, index) => ({ ...member, number: firstNumberBehindRow + index }));
  return { hasRow: true, members: numbered };
}

const text = (name: string, value: string): EventMember => ({ name, part: { kind: 'text', value } });
const long = (name: string, value: number): EventMember => ({ name, part: { kind: 'long', value } });
const ordinal = (name: string): EventMember => ({ name, part: { kind: 'ordinal' } });
const struct = (name: string, members: readonly EventMember[]): EventPart => ({ kind: 'struct', name, hasRow: false, members });
const transaction = (members: readonly EventMember[]): EventPart => struct('tidewater.Transaction', members);

/** No number takes as many. */
const maxNumberBytes = 16;

/** Appends the values of one version's events of one kind. Everything that is the same for all its rows is laid out once. */
export class EventWriter {
  readonly #shape: EventShape;
  readonly #notation: Notation;
  readonly #bySizes = new Map<number, readonly EventStep[]>();

  constructor(shape: EventShape, notation: Notation) {
    this.#shape = shape;
    this.#notation = notation;
  }

  append(out: RecordBuffer, rows: RowWriters, event: Omit<ChangeEvent, 'operation'>): void {
    const { before, after } = event;
    for (const step of this.#stepsFor(event)) {
      switch (step.kind) {
        case 'bytes':
          out.chunk(step.bytes);
          break;
        case 'ordinal':
          this.#notation.number(out, event.ordinal);
          break;
        case 'event-number':
          this.#notation.number(out, event.number);
          break;
        case 'row':
          rows.members(out, after < 0 ? before : after);
          break;
        case 'image':
          rows.image(out, step.image === 'before' ? before : after, step.tag);
          break;
        default:
          assertNever(step);
      }
    }
  }

  #stepsFor({ ordinal, number }: Pick<ChangeEvent, 'ordinal' | 'number'>): readonly EventStep[] {
    const ordinalSize = this.#notation.numberSize(ordinal);
    const numberSize = this.#notation.numberSize(number);
    const sizes = ordinalSize * maxNumberBytes + numberSize;
    const known = this.#bySizes.get(sizes);
    if (known !== undefined) return known;
    const steps = this.#notation.steps(this.#shape, { ordinal: ordinalSize, eventNumber: numberSize });
    this.#bySizes.set(sizes, steps);
    return steps;
  }
}

/** Writers of the values of a task, by operation or, in the flat envelope, by change type. */
export class EventWriters {
  readonly #byOperation: Readonly<Record<Operation, EventWriter>>;
  readonly #byCode: readonly EventWriter[];

  constructor(task: EncodeTask, notation: Notation) {
    const of = (operation: Operation): EventWriter => new EventWriter(eventShape(task, { operation }), notation);
    this.#byOperation = { c: of('c'), u: of('u'), d: of('d'), r: of('r'), t: of('t') };
    this.#byCode = changeTypes.map((changeType) => new EventWriter(eventShape(task, { changeType }), notation));
  }

  of(operation: Operation): EventWriter {
    return this.#byOperation[operation];
  }

  ofRow(code: number): EventWriter {
    return present(this.#byCode[code], `change code ${code} is known`);
  }
}

/** `sales.orders` is table `orders` of `sales`; a name without a dot belongs to `default`. */
export function splitName(name: string): { readonly database: string; readonly table: string } {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? { database: 'default', table: name } : { database: name.slice(0, dot), table: name.slice(dot + 1) };
}
