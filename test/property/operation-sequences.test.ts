import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../src/delta/delta-table.ts';
import { planStep, type Sequence, type Step, stepKinds } from '../support/property/model-steps.ts';
import { batchOf, type ModelColumn, type ModelState, schemaOf, shapeOf } from '../support/property/model-table.ts';
import { holds, propertySeed, propertyTimeoutMs } from '../support/property/property-runs.ts';
import { PropertyTables } from '../support/property/property-tables.ts';
import { linesOf } from '../support/property/random-tables.ts';
import { untrueStatistics } from '../support/property/true-bounds.ts';

let tables: PropertyTables;
beforeAll(async () => {
  tables = await PropertyTables.open();
});
afterAll(() => tables.close());

const columns: readonly ModelColumn[] = [
  { key: 0, name: 'id', type: 'int' },
  { key: 1, name: 'p', type: 'string' },
  { key: 2, name: 'n', type: 'int' },
  { key: 3, name: 'd', type: 'double' },
  { key: 4, name: 's', type: 'struct' },
];

interface Start {
  readonly partitioned: boolean;
  readonly properties: Readonly<Record<string, string>>;
}

const start: fc.Arbitrary<Start> = fc
  .record({
    partitioned: fc.boolean(),
    vectors: fc.boolean(),
    feed: fc.boolean(),
    mapped: fc.boolean(),
    interval: fc.constantFrom('2', '3', '100'),
    v2: fc.boolean(),
    rowIds: fc.boolean(),
  })
  .map(({ partitioned, vectors, feed, mapped, interval, v2, rowIds }) => ({
    partitioned,
    properties: {
      'delta.enableDeletionVectors': String(vectors),
      'delta.enableChangeDataFeed': String(feed),
      'delta.checkpointInterval': interval,
      'delta.checkpointPolicy': v2 ? 'v2' : 'classic',
      'delta.enableTypeWidening': 'true',
      ...(mapped ? { 'delta.columnMapping.mode': 'name' } : {}),
      ...(rowIds ? { 'delta.enableRowTracking': 'true' } : {}),
    },
  }));

const steps: fc.Arbitrary<readonly Step[]> = fc.array(fc.record({ kind: fc.constantFrom(...stepKinds), seed: fc.nat(0xffff) }), {
  minLength: 6,
  maxLength: 14,
  size: 'max',
});

/** Rows the model has, as the table's are printed. */
const linesAt = (state: ModelState): readonly string[] => linesOf([batchOf(state)]);

/** Does the steps by turns through two handles, as two processes have them; gives the states by version. */
async function played(
  { partitioned, properties }: Start,
  todo: readonly Step[],
): Promise<{ readonly name: string; readonly states: readonly ModelState[] }> {
  const first = await tables.create({ schema: schemaOf(columns), partitionBy: partitioned ? ['p'] : [], properties });
  const handles: readonly DeltaTable[] = [first, await tables.local.open(first.name)];
  const states: ModelState[] = [{ columns, rows: [] }];
  const sequence: Sequence = { tables, states, partition: partitioned ? 1 : undefined, nextKey: columns.length, nextId: 0 };
  for (const [index, step] of todo.entries()) {
    const table = handles[(step.seed >> 8) % 2] ?? first;
    const planned = await planStep(step, sequence, table);
    if (planned === undefined) continue;
    const where = `step ${index} at version ${states.length - 1}: ${planned.text}`;
    try {
      await planned.run(table);
    } catch (cause) {
      throw new Error(`${where}: ${String(cause)}`, { cause });
    }
    const { version } = await table.refresh();
    expect(version, where).toBeLessThanOrEqual(states.length);
    if (version === states.length) states.push(planned.state);
    expect(await tables.lines(table), where).toEqual(linesAt(planned.state));
  }
  return { name: first.name, states };
}

/** Runs of versions in which the rows of the last one follow from those of the first and the changes between. */
async function comparableRanges(table: DeltaTable, states: readonly ModelState[]): Promise<readonly (readonly [number, number])[]> {
  const ranges: [number, number][] = [];
  let from: number | undefined;
  for (const [version, state] of states.entries()) {
    const recorded = (await table.snapshotAt(version as Parameters<DeltaTable['snapshotAt']>[0])).settings.changeDataFeed;
    const before = states[version - 1];
    if (!recorded || before === undefined || shapeOf(before) !== shapeOf(state)) from = recorded ? version : undefined;
    else if (from !== undefined) ranges.push([from, version]);
    from ??= recorded ? version : undefined;
  }
  return ranges.filter(([first, last], index) => {
    const next = ranges[index + 1];
    return next === undefined || next[0] !== first || last % 3 === 0;
  });
}

describe(`any sequence of operations (SEED=${propertySeed})`, () => {
  it('leaves at every version, for ever, the rows and columns of the model, and changes that lead from one to the other', {
    timeout: propertyTimeoutMs,
  }, async () => {
    await holds(
      fc.tuple(start, steps),
      async ([begin, todo]) => {
        const { name, states } = await played(begin, todo);
        const table = await tables.local.open(name);
        for (const [version, state] of states.entries()) {
          expect(await tables.lines(table, version), `version ${version}`).toEqual(linesAt(state));
        }
        expect(await untrueStatistics(tables, table)).toEqual([]);
        for (const [from, until] of await comparableRanges(table, states)) {
          const state = states[until];
          if (state !== undefined) expect(await tables.folded(table, from, until), `changes ${from} to ${until}`).toEqual(linesAt(state));
        }
      },
      { runs: 12 },
    );
  });
});
