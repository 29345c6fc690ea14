import type { Engine, HeldRelation } from '../../engine/engine.ts';
import type { Relation } from '../../table/relation.ts';
import type { SinkBatch, StreamSink } from './stream-sink.ts';

/** Keeps all rows in the engine, or those of the last batch, to be queried as a view of the query's name. For tests and for looking at a stream: it grows. */
export class MemorySink implements StreamSink {
  readonly description = 'MemorySink';
  readonly #engine: Engine;
  readonly #publish: (rows: Relation) => void;
  readonly #replaces: boolean;
  #held: readonly HeldRelation[] = [];
  #lastBatchId = -1;

  /** @param parts.publish makes the rows so far the rows of the view; `replaces`: a batch is all there is. */
  constructor(parts: { readonly engine: Engine; readonly publish: (rows: Relation) => void; readonly replaces: boolean }) {
    this.#engine = parts.engine;
    this.#publish = parts.publish;
    this.#replaces = parts.replaces;
  }

  async add(batch: SinkBatch, signal: AbortSignal): Promise<number> {
    if (batch.batchId <= this.#lastBatchId) return 0;
    const rows = await this.#engine.materialize(batch.rows, signal);
    const before = this.#replaces ? this.#held : [];
    this.#held = this.#replaces ? [rows] : [...this.#held, rows];
    this.#lastBatchId = batch.batchId;
    this.#publish({ sql: this.#held.map(({ sql }) => `SELECT * FROM (${sql})`).join(' UNION ALL '), schema: batch.rows.schema });
    for (const old of before) await old.dispose();
    const [counted] = await this.#engine.rows(`SELECT count(*) FROM (${rows.sql})`, signal);
    return Number(counted?.[0] ?? 0);
  }
}
