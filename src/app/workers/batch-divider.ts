import { isServiceError } from '../../base/errors.ts';
import { KnownSchemas } from '../../ingest/decode/known-schemas.ts';
import { type Assignment, DivisionKeys } from '../../ingest/divide/division-keys.ts';
import { readBatchHeader } from '../../kafka/records/batch-header.ts';
import { RecordCursor } from '../../kafka/records/record-cursor.ts';
import { recordSubset } from '../../kafka/records/record-subset.ts';
import {
  type BatchSpan,
  type DividedBatch,
  type DivideResult,
  type DivideTask,
  type DivisionSpec,
  unmatchedPart,
} from '../../protocol/division.ts';
import { unopenable } from './decode-batch.ts';
import { schemasNeeded } from './with-schemas.ts';

export interface BatchDividerOptions {
  readonly maxNestingDepth: number;
  /** What one record batch may unpack to. Default: that of `RecordCursor`. */
  readonly maxUnpackedBytes?: number | undefined;
  /** Told before each record batch of a task, with its number. */
  readonly onStep?: ((index: number) => void) | undefined;
}

/** Of so many divisions the decoders are kept. */
const maxKept = 16;

/**
 * Divides record batches in one thread: each is opened once, and what a table takes of it becomes a batch of its own with the offsets it had. A
 * batch whose records all go one way goes on as it is.
 */
export class BatchDivider {
  readonly #options: BatchDividerOptions;
  readonly #schemas = new KnownSchemas();
  readonly #keys = new Map<string, DivisionKeys>();

  constructor(options: BatchDividerOptions) {
    this.#options = options;
  }

  /** @throws ServiceError `SCHEMAS_NEEDED`. */
  divide(task: DivideTask): DivideResult {
    this.#schemas.forgetUnknown();
    this.#schemas.add(task.schemas);
    const keys = this.#keysOf(task.spec);
    const parts = task.spec.parts.map(() => new PartBytes());
    const wanted = new Set<string>();
    const unmatched = parts[unmatchedPart(task.spec)];
    for (const [source, { start, end }] of task.batches.entries()) {
      this.#options.onStep?.(source);
      const batch = task.bytes.subarray(start, end);
      if (task.unopened.includes(source)) unmatched?.add(batch, whole(batch, source));
      else this.#divide(task, keys, { batch, source, parts, unmatched, wanted });
    }
    const missing = this.#schemas.takeMissing();
    if (missing.length > 0) throw schemasNeeded(missing);
    return { parts: parts.map((part) => part.finish()), wanted: [...wanted] };
  }

  #divide({ topic, partition, spec }: DivideTask, keys: DivisionKeys, { batch, source, parts, unmatched, wanted }: BatchToDivide): void {
    if (spec.key.kind === 'topic') {
      const found = keys.ofTopic(topic);
      if (typeof found === 'number') parts[found]?.add(batch, { ...whole(batch, source), unmatched: false });
      else if ('wanted' in found) wanted.add(found.wanted);
      else unmatched?.add(batch, whole(batch, source));
      return;
    }
    const starts: number[] = [];
    const ends: number[] = [];
    let cursor: RecordCursor;
    try {
      keys.startPartition(topic, partition);
      cursor = new RecordCursor(batch, { maxUnpackedBytes: this.#options.maxUnpackedBytes });
      while (cursor.next()) {
        keys.put(cursor);
        starts.push(cursor.recordStart);
        ends.push(cursor.recordEnd);
      }
    } catch (error) {
      if (!isServiceError(error) || !unopenable.has(error.code)) throw error;
      unmatched?.add(batch, whole(batch, source));
      return;
    }
    const picked = pick(keys.take(), parts.length, wanted);
    const add = (picks: readonly number[], part: PartBytes | undefined, isUnmatched: boolean): void => {
      if (picks.length === 0) return;
      const bytes = picks.length === starts.length ? batch : recordSubset({ batch, data: cursor.data, starts, ends, picks });
      part?.add(bytes, { source, recordCount: picks.length, unmatched: isUnmatched, checked: true });
    };
    add(picked.unmatched, unmatched, true);
    for (const [index, picks] of picked.parts.entries()) add(picks, parts[index], false);
  }

  #keysOf(spec: DivisionSpec): DivisionKeys {
    const name = JSON.stringify([spec.key, spec.value, spec.parts, spec.template]);
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    if (this.#keys.size >= maxKept) this.#keys.clear();
    const { maxNestingDepth: maxDepth, maxUnpackedBytes } = this.#options;
    const made = new DivisionKeys(spec, { maxDepth, maxUnpackedBytes, schemas: this.#schemas });
    this.#keys.set(name, made);
    return made;
  }
}

interface BatchToDivide {
  readonly batch: Uint8Array;
  /** Its number. */
  readonly source: number;
  readonly parts: readonly PartBytes[];
  /** The one of them that is given what no table takes. */
  readonly unmatched: PartBytes | undefined;
  readonly wanted: Set<string>;
}

/** A batch that nobody can say anything of. */
function whole(batch: Uint8Array, source: number): Omit<DividedBatch, keyof BatchSpan> {
  return { source, recordCount: Math.max(1, readBatchHeader(batch).recordCount), unmatched: true, checked: false };
}

/** The records that each part takes, and those that none does, by their numbers; keys that a table is to be made for go to `wanted`. */
function pick(
  assignments: readonly Assignment[],
  count: number,
  wanted: Set<string>,
): { readonly parts: readonly (readonly number[])[]; readonly unmatched: readonly number[] } {
  const parts: number[][] = Array.from({ length: count }, () => []);
  const unmatched: number[] = [];
  for (const [record, assignment] of assignments.entries()) {
    if (typeof assignment === 'number') parts[assignment]?.push(record);
    else if ('wanted' in assignment) wanted.add(assignment.wanted);
    else unmatched.push(record);
  }
  return { parts, unmatched };
}

/** The batches of one part, end to end. */
class PartBytes {
  readonly #pieces: Uint8Array[] = [];
  readonly #batches: DividedBatch[] = [];
  #length = 0;

  add(bytes: Uint8Array, about: Omit<DividedBatch, keyof BatchSpan>): void {
    this.#batches.push({ ...about, start: this.#length, end: this.#length + bytes.length });
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  finish(): DivideResult['parts'][number] {
    const bytes = new Uint8Array(this.#length);
    for (const [index, { start }] of this.#batches.entries()) bytes.set(this.#pieces[index] ?? bytes, start);
    return { bytes, batches: this.#batches };
  }
}
