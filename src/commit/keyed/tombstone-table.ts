import { throwIfAborted } from '../../base/abort.ts';
import { assert } from '../../base/assert.ts';
import { backoffMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import type { Random } from '../../base/random.ts';
import type { OpenEngine } from '../../engine/engine.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { widerNumber } from '../../expr/wider-number.ts';
import { isValidAt } from '../../schema/bitmap.ts';
import type { Column, ColumnBatch } from '../../schema/columns.ts';
import { describeType } from '../../schema/describe-type.ts';
import { takeRows } from '../../schema/take.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { KeyedRows, RememberedDeletes } from '../../table/keyed.ts';
import type { FileScan } from '../../table/scan.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import type { CommitObserver } from '../commit-observer.ts';
import type { CommitterSettings } from '../table-committer.ts';

/** When a delete was remembered, beside the columns of the key and the order. */
export const rememberedAt: Field = { name: 'deleted_at', type: { kind: 'timestamp' }, nullable: false };
/** The day of it, by which the table is partitioned. */
export const rememberedOn: Field = { name: 'deleted_on', type: { kind: 'date' }, nullable: false };

export interface TombstoneTableParts {
  /** The table of them. */
  readonly table: QueryableTable;
  readonly retentionMs: number;
  readonly engine: OpenEngine;
  readonly clock: Clock;
  readonly random: Random;
  readonly failpoint: Failpoint;
  readonly observer: Pick<CommitObserver, 'attempt'>;
  readonly settings: Pick<CommitterSettings, 'maxRebaseAttempts' | 'backoff'>;
  /** Told how many deletes are remembered, whenever that is looked at; `undefined`: the files do not say. */
  readonly onRows: (rows: number | undefined) => void;
}

const dayMs = 86_400_000;

/**
 * Deleted keys of one keyed table, each with the order of its delete, in a table beside it. A row says "of this key a record of that order deletes",
 * which holds whether or not the keyed table has that record yet: it may be there twice, and be written by several processes in any order. Whole days
 * are forgotten once their last row is older than the retention.
 */
export class TombstoneTable implements RememberedDeletes {
  readonly #parts: TombstoneTableParts;
  /** The newest day that is known to be forgotten. */
  #forgotten = Number.NEGATIVE_INFINITY;

  constructor(parts: TombstoneTableParts) {
    this.#parts = parts;
  }

  /**
   * Remembers the deletes of a batch; done when they can be read by everybody. Made again after whatever may pass, an unknown outcome too.
   *
   * @throws ServiceError `TOMBSTONES_DIFFER` (kind invalid), what the table's write throws and time does not cure, `ABORTED`.
   */
  async remember({ keys }: KeyedRows, signal?: AbortSignal): Promise<void> {
    const { failpoint, settings, clock, random, observer } = this.#parts;
    const rows = deletesOf(keys, clock.now());
    if (rows.rowCount === 0) return;
    await failpoint('before-tombstones');
    for (let attempt = 1; ; attempt += 1) {
      throwIfAborted(signal);
      try {
        await this.#write(rows);
        break;
      } catch (error) {
        if (!isServiceError(error, 'conflict', 'unavailable', 'unknown-outcome') || attempt > settings.maxRebaseAttempts) throw error;
        if (error.kind !== 'conflict') observer.attempt('unavailable', error);
        await clock.sleep(backoffMs(settings.backoff, attempt, random), signal);
      }
    }
    await failpoint('after-tombstones');
    await this.#forget();
  }

  /** What was forgotten by its day and is still there counts no more. */
  async scan(condition: Expression | undefined): Promise<FileScan> {
    const { table, onRows } = this.#parts;
    const snapshot = await table.refresh();
    onRows(snapshot.rowCount);
    const filter = conjunction([dayCondition('>=', this.#firstDay), ...(condition === undefined ? [] : [condition])]);
    return table.scan(snapshot, { filter });
  }

  get #firstDay(): number {
    const { clock, retentionMs } = this.#parts;
    return Math.floor((clock.now() - retentionMs) / dayMs);
  }

  async #write(rows: ColumnBatch): Promise<void> {
    const { table } = this.#parts;
    await this.#widen(rows, await table.refresh());
    const engine = await this.#parts.engine();
    const held = await engine.hold(rows.schema, [rows]);
    try {
      await table.operations.write({ rows: held, mode: { kind: 'append' }, operation: 'STREAMING UPDATE' });
    } finally {
      await held.dispose();
    }
  }

  /** Columns of the key and the order are as wide as those of the keyed table. */
  async #widen(rows: ColumnBatch, { schema }: Snapshot): Promise<void> {
    const { table } = this.#parts;
    for (const { name, type } of rows.schema.fields) {
      const known = schema.fields.find((field) => field.name === name)?.type;
      if (known === undefined) throw differs(table.name, `it has no column "${name}"`);
      if (describeType(known) === describeType(type)) continue;
      const wide = widerNumber(known, type);
      if (wide === undefined) throw differs(table.name, `column "${name}" has type ${describeType(known)}, not ${describeType(type)}`);
      if (describeType(wide) === describeType(known)) continue;
      try {
        await table.operations.alter({ kind: 'change-type', path: [name], type: wide });
      } catch (error) {
        if (!isServiceError(error, 'invalid', 'unsupported')) throw error;
        throw differs(table.name, `column "${name}" cannot be made a ${describeType(wide)}: ${error.message}`);
      }
    }
  }

  /** Once a day; whoever else does it at the same time is first, and what fails is done by the next commit. */
  async #forget(): Promise<void> {
    const { table } = this.#parts;
    const firstDay = this.#firstDay;
    if (this.#forgotten >= firstDay) return;
    try {
      await table.operations.delete({ condition: dayCondition('<', firstDay) });
      this.#forgotten = firstDay;
    } catch (error) {
      if (!isServiceError(error, 'conflict', 'unavailable', 'unknown-outcome')) throw error;
    }
  }
}

function dayCondition(operator: '<' | '>=', days: number): Expression {
  const left: Expression = { kind: 'column', path: [rememberedOn.name], type: rememberedOn.type };
  return { kind: 'binary', operator, left, right: { kind: 'literal', literal: { type: 'date', days } } };
}

/** The keys that are deleted, with their order and the time. */
function deletesOf({ schema, columns, rowCount }: ColumnBatch, nowMs: number): ColumnBatch {
  const deleted = columns.at(-1);
  assert(deleted?.layout === 'boolean', 'the last column says what is deleted');
  const places: number[] = [];
  for (let row = 0; row < rowCount; row++) if (isValidAt(deleted.bits, row)) places.push(row);
  // A column may be of the key and of the order.
  const isTold = schema.fields.map(({ name }, index) => index < columns.length - 1 && isFirst(schema, name, index));
  const told: ColumnBatch = {
    schema: { kind: 'struct', fields: schema.fields.filter((_, index) => isTold[index]) },
    columns: columns.filter((_, index) => isTold[index]),
    rowCount,
  };
  const { length } = places;
  const filled = { length, nullCount: 0, validity: undefined, layout: 'fixed' } as const;
  const times: readonly Column[] = [
    { ...filled, type: rememberedAt.type, values: new BigInt64Array(length).fill(BigInt(nowMs) * 1_000n) },
    { ...filled, type: rememberedOn.type, values: new Int32Array(length).fill(Math.floor(nowMs / dayMs)) },
  ];
  return {
    schema: { kind: 'struct', fields: [...told.schema.fields, rememberedAt, rememberedOn] },
    rowCount: length,
    columns: [...takeRows(told, Int32Array.from(places)).columns, ...times],
  };
}

function isFirst({ fields }: StructType, name: string, index: number): boolean {
  return fields.findIndex((field) => field.name === name) === index;
}

/** What is remembered is not of the key and the order that the keyed table has now. */
export function differs(table: string, how: string): ServiceError {
  return serviceError.invalid('TOMBSTONES_DIFFER', `table "${table}", which remembers deleted keys, does not fit its table: ${how}`, {
    hint: 'change it as its table was changed, or let it begin anew: drop it, and remove the property tidewater.tombstones of its table; deletes until then are forgotten',
    context: { table },
  });
}
