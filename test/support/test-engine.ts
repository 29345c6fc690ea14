import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { buildBatch, type InputRow } from '../../src/codec/build-columns.ts';
import { type PlainRow, rowsOf } from '../../src/codec/rows.ts';
import { DuckdbEngine } from '../../src/engine/duckdb-engine.ts';
import type { HeldRelation } from '../../src/engine/engine.ts';
import type { StructType } from '../../src/schema/types.ts';
import type { Relation } from '../../src/table/relation.ts';

/** A real engine with a directory of its own; `close` removes both. */
export interface TestEngine {
  readonly engine: DuckdbEngine;
  /** Absolute, for files of the test. */
  readonly directory: string;
  hold(schema: StructType, rows: readonly InputRow[]): Promise<HeldRelation>;
  rows(relation: Relation): Promise<readonly PlainRow[]>;
  close(): Promise<void>;
}

export async function openTestEngine(options: { readonly memoryLimitBytes?: number } = {}): Promise<TestEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'tidewater-engine-test-'));
  const engine = await DuckdbEngine.open({
    memoryLimitBytes: options.memoryLimitBytes ?? 256 * 2 ** 20,
    threads: 2,
    temporaryDirectory: join(directory, 'spill'),
    ids: new RandomIdSource(new SystemRandom()),
  });
  return {
    engine,
    directory,
    hold: (schema, rows) => engine.hold(schema, [buildBatch(schema, rows)]),
    rows: async (relation) => {
      const rows: PlainRow[] = [];
      for await (const batch of engine.read(relation)) rows.push(...rowsOf([batch]));
      return rows;
    },
    close: async () => {
      await engine.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
