import { describe, expect, it } from 'vitest';
import { randomInt } from '../../src/base/random.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { sortedLines } from './oracle.ts';
import { type EngineBench, engineBench, enginesMissing } from './support/engine-bench.ts';

/*
 * Ours, delta-rs and Spark append, update, delete and compact in turns on one table. After each round every engine must read the rows of a
 * model, and at the end the whole history must fold to them.
 */

const rounds = 20;
/** Each round is up to five jobs of Spark. */
const timeoutMs = 900_000;
const writers = ['ours', 'delta-rs', 'spark'] as const;
const readers = ['ours', 'delta-rs', 'duckdb', 'spark'] as const;
const changes = ['append', 'update', 'delete', 'append', 'compact'] as const;

interface Turn {
  readonly writer: (typeof writers)[number];
  readonly change: (typeof changes)[number];
  /** Rows appended: this and the next ids. */
  readonly firstId: number;
  readonly rows: number;
  /** Rows whose id leaves `remainder` when divided by `divisor` are updated or deleted. */
  readonly divisor: number;
  readonly remainder: number;
}

describe.skipIf(enginesMissing)('engines that write one table in turns', () => {
  const bench = engineBench();

  it.each([
    { kind: 'copy-on-write', properties: "'delta.checkpointInterval' = '4', 'delta.enableChangeDataFeed' = 'true'" },
    { kind: 'deletion-vectors', properties: "'delta.checkpointInterval' = '4', 'delta.enableDeletionVectors' = 'true'" },
  ])(
    'leave the rows of the model after each round ($kind)',
    async ({ kind, properties }) => {
      const seed = Number(process.env['ENGINES_SEED'] ?? '4');
      const random = new SeededRandom(seed);
      const path = bench().path(`turns-${kind}`);
      await bench().session.sql(
        `CREATE TABLE delta.\`${path}\` (id BIGINT, v BIGINT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES (${properties})`,
      );
      const model = new Map<number, number>();
      for (let round = 0; round < rounds; round += 1) {
        const turn = turnOf(random, round);
        const label = `seed ${seed}, round ${round}: ${JSON.stringify(turn)}`;
        applyToModel(model, turn);
        await apply(bench(), path, turn);
        const expected = [label, ...sortedLines([...model].map(([id, v]) => ({ id, v, p: `p${id % 3}` })))];
        const read = await Promise.all(readers.map((reader) => bench().lines(reader, path)));
        for (const [index, lines] of read.entries()) expect([label, ...lines], readers[index]).toEqual(expected);
      }
      expect(await bench().oracle.check(path)).toEqual([]);
      if (kind === 'copy-on-write') expect(await bench().changeLines('ours', path)).toEqual(await bench().changeLines('spark', path));
      expect(await bench().operations('ours', path)).toEqual(await bench().operations('spark', path));
    },
    timeoutMs,
  );
});

function turnOf(random: SeededRandom, round: number): Turn {
  const divisor = 2 + randomInt(random, 5);
  return {
    writer: writers[randomInt(random, writers.length)] ?? 'ours',
    change: round === 0 ? 'append' : (changes[randomInt(random, changes.length)] ?? 'append'),
    firstId: round * 10,
    rows: 3 + randomInt(random, 7),
    divisor,
    remainder: randomInt(random, divisor),
  };
}

function applyToModel(model: Map<number, number>, { change, firstId, rows, divisor, remainder }: Turn): void {
  if (change === 'append') for (let id = firstId; id < firstId + rows; id += 1) model.set(id, id);
  for (const [id, v] of model) {
    if (id % divisor !== remainder) continue;
    if (change === 'update') model.set(id, v + 1);
    if (change === 'delete') model.delete(id);
  }
}

async function apply(bench: EngineBench, path: string, turn: Turn): Promise<void> {
  if (turn.writer === 'delta-rs') {
    await applyWithDeltaRs(bench, path, turn);
    return;
  }
  const statement = statementOf(`delta.\`${path}\``, turn);
  if (turn.writer === 'ours') await bench.session.sql(statement);
  else await bench.oracle.sql(statement);
}

function statementOf(table: string, { change, firstId, rows, divisor, remainder }: Turn): string {
  switch (change) {
    case 'append':
      return `INSERT INTO ${table} SELECT id, id AS v, concat('p', id % 3) AS p FROM range(${firstId}, ${firstId + rows})`;
    case 'update':
      return `UPDATE ${table} SET v = v + 1 WHERE id % ${divisor} = ${remainder}`;
    case 'delete':
      return `DELETE FROM ${table} WHERE id % ${divisor} = ${remainder}`;
    case 'compact':
      return `OPTIMIZE ${table}`;
  }
}

async function applyWithDeltaRs({ oracle }: EngineBench, path: string, turn: Turn): Promise<void> {
  const { change, firstId, rows } = turn;
  const predicate = `id % ${turn.divisor} = ${turn.remainder}`;
  switch (change) {
    case 'append': {
      const appended = Array.from({ length: rows }, (_, index) => firstId + index).map((id) => ({ id, v: id, p: `p${id % 3}` }));
      await oracle.deltaRs(path, { op: 'append', rows: appended, types: { id: 'long', v: 'long', p: 'string' } });
      return;
    }
    case 'update':
      await oracle.deltaRs(path, { op: 'update', set: { v: 'v + 1' }, predicate });
      return;
    case 'delete':
      await oracle.deltaRs(path, { op: 'delete', predicate });
      return;
    case 'compact':
      await oracle.deltaRs(path, { op: 'compact' });
  }
}
