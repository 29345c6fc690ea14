import type { Engine, HeldRelation } from '../../engine/engine.ts';
import type { Relation } from '../../table/relation.ts';
import type { SinkBatch, StreamSink } from './stream-sink.ts';

/** Keeps all rows in the engine, to be queried as a view of the query's name. For tests and for looking at a stream: it grows. */
export class MemorySink implements StreamSink {
  readonly description = 'MemorySink';
  readonly #engine: Engine;
  readonly #publish: (rows: Relation) => void;
  readonly #held: HeldRelation[] = [];
  #lastBatchId = -1;

  /** @param parts.publish makes the rows so far the rows of the view. */
  constructor(parts: { readonly engine: Engine; readonly publish: (rows: Relation) => void }) {
    this.#engine = parts.engine;
    this.#publish = parts.publish;
  }

  async add(batch: SinkBatch, signal: AbortSignal): Promise<number> {
    if (batch.batchId <= this.#lastBatchId) return 0;
    const rows = await this.#engine.materialize(batch.rows, signal);
    this.#held.push(rows);
    this.#lastBatchId = batch.batchId;
    this.#publish({ sql: this.#held.map(({ sql }) => `SELECT * FROM (${sql})`).join(' UNION ALL '), schema: batch.rows.schema });
    const [counted] = await this.#engine.rows(`SELECT count(*) FROM (${rows.sql})`, signal);
    return Number(counted?.[0] ?? 0);
  }
}
