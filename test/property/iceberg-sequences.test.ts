import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { IcebergTable } from '../../src/iceberg/iceberg-table.ts';
import { IcebergPropertyTables, type RowLineage } from '../support/property/iceberg-bench.ts';
import { IcebergInvariants } from '../support/property/iceberg-invariants.ts';
import {
  type IcebergSequence,
  type IcebergStep,
  icebergStepKinds,
  type PlannedIcebergStep,
  planIcebergStep,
  randomPartitionField,
} from '../support/property/iceberg-steps.ts';
import { batchOf, idKey, type ModelColumn, type ModelState, schemaOf } from '../support/property/model-table.ts';
import { holds, propertyTimeoutMs, seedOr } from '../support/property/property-runs.ts';
import { linesOf } from '../support/property/random-tables.ts';

const seed = seedOr(20_261_121);
let tables: IcebergPropertyTables;
beforeAll(async () => {
  tables = await IcebergPropertyTables.open();
});
afterAll(() => tables.close());

const columns: readonly ModelColumn[] = [
  { key: idKey, name: 'id', type: 'int' },
  { key: 1, name: 'p', type: 'string' },
  { key: 2, name: 'n', type: 'int' },
  { key: 3, name: 'd', type: 'double' },
  { key: 4, name: 's', type: 'struct' },
  { key: 5, name: 't', type: 'timestamp' },
];

interface Start {
  readonly partitionSeeds: readonly number[];
  readonly properties: Readonly<Record<string, string>>;
}

const mode = fc.constantFrom('copy-on-write', 'merge-on-read');
const format = fc.constantFrom('parquet', 'parquet', 'avro', 'orc');
const start: fc.Arbitrary<Start> = fc
  .record({
    partitionSeeds: fc.array(fc.nat(0xffff), { maxLength: 2 }),
    version: fc.constantFrom('1', '2', '2', '3', '3'),
    remove: mode,
    update: mode,
    merge: mode,
    format,
    manifests: fc.constantFrom('1', '2', '100'),
    metrics: fc.constantFrom('truncate(16)', 'full', 'counts', 'none'),
  })
  .map(({ partitionSeeds, version, remove, update, merge, format: files, manifests, metrics }) => ({
    partitionSeeds,
    properties: {
      'format-version': version,
      'write.delete.mode': remove,
      'write.update.mode': update,
      'write.merge.mode': merge,
      'write.format.default': files,
      'commit.manifest.min-count-to-merge': manifests,
      'write.metadata.metrics.default': metrics,
      'write.spark.accept-any-schema': 'true',
    },
  }));

const steps: fc.Arbitrary<readonly IcebergStep[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...icebergStepKinds), seed: fc.nat(0xffff) }),
  { minLength: 8, maxLength: 20, size: 'max' },
);

/** Rows the model has, as the table's are printed. */
const linesAt = (state: ModelState): readonly string[] => linesOf([batchOf(state)]);

/** One sequence of steps as it goes, and what must hold after each. */
class Play {
  readonly #states: ModelState[] = [{ columns, rows: [] }];
  readonly #snapshots = new Map<bigint, ModelState>();
  readonly #invariants = new IcebergInvariants();
  #lineage: RowLineage = new Map();
  readonly #sequence: IcebergSequence = {
    tables,
    states: this.#states,
    snapshots: this.#snapshots,
    partition: undefined,
    nextKey: columns.length,
    nextId: 0,
  };

  get state(): ModelState {
    return this.#states.at(-1) ?? { columns, rows: [] };
  }

  async take(step: IcebergStep, table: IcebergTable, index: number): Promise<void> {
    const before = (await table.refresh()).snapshotId;
    const planned = await planIcebergStep(step, this.#sequence, table);
    if (planned === undefined) return;
    const where = `step ${index}: ${planned.text}`;
    const done = await succeeds(planned, table, where);
    const state = await table.refresh();
    if (planned.text.startsWith('roll back')) this.#invariants.forgetRowIds();
    if (!done) expect(state.snapshotId, where).toBe(before);
    else this.#states.push(planned.state);
    if (state.snapshotId !== undefined && !this.#snapshots.has(state.snapshotId)) this.#snapshots.set(state.snapshotId, this.state);
    try {
      expect(await tables.lines(table), where).toEqual(linesAt(this.state));
      expect(await this.#invariants.faults(table), where).toEqual([]);
      await this.#checkLineage(planned, table, where);
    } catch (cause) {
      if (String(cause).includes(where)) throw cause;
      throw new Error(`after ${where}: ${String(cause)}`, { cause });
    }
  }

  /** At the end: every snapshot that is still there, and every file. */
  async finish(table: IcebergTable): Promise<void> {
    for (const { snapshotId } of (await table.refresh()).metadata.snapshots) {
      const state = this.#snapshots.get(snapshotId);
      // A rewrite may make several snapshots; all have the same rows.
      if (state === undefined) continue;
      expect(await tables.lines(table, snapshotId), `snapshot ${snapshotId}`).toEqual(linesAt(state));
    }
    expect(await this.#invariants.faults(table, { everything: true })).toEqual([]);
  }

  /** A row keeps its id as long as it lives, and rewrites do not change it. */
  async #checkLineage({ keepsRows, text }: PlannedIcebergStep, table: IcebergTable, where: string): Promise<void> {
    const idName = this.state.columns.find(({ key }) => key === idKey)?.name ?? '';
    const before: RowLineage = text.startsWith('roll back') ? new Map() : this.#lineage;
    const after = await tables.lineage(table, idName);
    const { snapshot } = await table.refresh();
    if (snapshot?.firstRowId !== undefined) {
      expect(
        [...after].filter(([, { rowId, changed }]) => rowId === null || changed === null),
        where,
      ).toEqual([]);
      expect(after.size, where).toBe(this.state.rows.length);
    }
    const ids = new Set<bigint>();
    for (const [id, { rowId, changed }] of after) {
      const known = before.get(id);
      if (known !== undefined && known.rowId !== null) expect([id, rowId], where).toEqual([id, known.rowId]);
      if (keepsRows === true && known !== undefined && known.rowId !== null) expect([id, changed], where).toEqual([id, known.changed]);
      if (rowId === null) continue;
      expect(ids.has(rowId), `${where}: row id ${rowId} twice`).toBe(false);
      ids.add(rowId);
    }
    this.#lineage = after;
  }
}

/** False: it was refused, as it may be. */
async function succeeds(planned: PlannedIcebergStep, table: IcebergTable, where: string): Promise<boolean> {
  try {
    await planned.run(table);
    return true;
  } catch (cause) {
    const text = `${String(cause)} ${String((cause as { errorClass?: string }).errorClass)}`;
    if (planned.mayRefuse?.test(text) === true) return false;
    throw new Error(`${where}: ${text} ${(cause as Error).stack ?? ''}`, { cause });
  }
}

describe(`any sequence of operations of an Iceberg table (SEED=${seed})`, () => {
  it('leaves at every snapshot that stays the rows and columns of the model, and metadata that is right', {
    timeout: propertyTimeoutMs,
  }, async () => {
    await holds(
      fc.tuple(start, steps),
      async ([{ partitionSeeds, properties }, todo]) => {
        const fields = partitionSeeds.flatMap((drawn) => randomPartitionField(new SeededRandom(drawn), columns.slice(0, 4)) ?? []);
        const partitioning = fields.filter(({ source }, index) => fields.findIndex((other) => other.source[0] === source[0]) === index);
        const first = await tables.create({ schema: schemaOf(columns), partitioning, properties });
        const handles = [first, await tables.open(first.name)];
        const play = new Play();
        for (const [index, step] of todo.entries()) await play.take(step, handles[(step.seed >> 8) % 2] ?? first, index);
        await play.finish(await tables.open(first.name));
      },
      { runs: 10, seed },
    );
  });
});
