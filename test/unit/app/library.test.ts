import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTable } from '../../../src/app/commands/read-command.ts';
import { changes, openTable, rows } from '../../../src/app/library.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../../src/base/bigint-json.ts';
import { type TemporarySession, temporarySession } from '../../support/temporary-session.ts';

const partitions = 8;
const keys = 400;

const isOneOf = (types: string, type: JsonValue | undefined): boolean =>
  typeof type === 'string' && types.split(' ').includes(type.toLowerCase());

async function all(lines: AsyncIterable<JsonObject>): Promise<readonly JsonObject[]> {
  const read: JsonObject[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

/** What is there after the changes, applied one after the other as they came: what any reader of the changes does. */
function folded(changed: readonly JsonObject[]): ReadonlyMap<unknown, unknown> {
  const state = new Map<unknown, unknown>();
  for (const { id, v, _change_type: type } of changed) {
    if (isOneOf('delete update_preimage update_before', type)) state.delete(id);
    else state.set(id, v);
  }
  return state;
}

describe.each([
  { format: 'delta', create: "USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')" },
  { format: 'iceberg', create: 'USING iceberg PARTITIONED BY (p)' },
])('a $format table read without a session', ({ format, create }) => {
  let temporary: TemporarySession;

  beforeAll(async () => {
    temporary = await temporarySession();
    const { session } = temporary;
    await session.sql(`CREATE TABLE moved (id BIGINT, v BIGINT, p INT) ${create}`);
    await session.sql(`INSERT INTO moved SELECT id, 1, CAST(id % ${partitions} AS INT) FROM range(0, ${keys})`);
    // Every row goes to another partition; then keys are given to other rows.
    await session.sql(`UPDATE moved SET v = v + 1, p = ${partitions - 1} - p`);
    await session.sql(`UPDATE moved SET v = v + 1, id = ${keys - 1} - id, p = (p + 3) % ${partitions}`);
    await session.sql('DELETE FROM moved WHERE id % 10 = 0');
    await session.sql(
      `CREATE TABLE numbers (l BIGINT, i INT, d DOUBLE, a ARRAY<BIGINT>, s STRUCT<l: BIGINT, i: INT>, m MAP<BIGINT, INT>) ${create.replace('PARTITIONED BY (p)', '')}`,
    );
    for (const sign of ['', '-']) {
      await session.sql(
        `INSERT INTO numbers SELECT ${sign}1L, ${sign}1, ${sign}1e17, array(${sign}2L, 9007199254740993L), named_struct('l', ${sign}3L, 'i', 4), map(${sign}5L, 6)`,
      );
    }
  }, 120_000);

  afterAll(async () => {
    await temporary[Symbol.asyncDispose]();
  });

  const locationOf = (name: string): string => join(temporary.directory, 'warehouse', name);

  it('gives the changes of a version so that applied one by one they are the table: what takes rows away first', async () => {
    const table = await openTable(locationOf('moved'));
    const changed = await all(changes(table, { fromVersion: 0 }));
    expect(new Map([...folded(changed)].sort())).toEqual(new Map((await all(rows(table))).map(({ id, v }) => [id, v] as const).sort()));
    const phases = changed.map((row) => [
      row['_commit_version'] ?? row['_change_ordinal'],
      isOneOf('insert update_postimage update_after', row['_change_type']) ? 1 : 0,
    ]);
    expect(phases).toEqual([...phases].sort(([a, b], [c, d]) => Number(a) - Number(c) || Number(b) - Number(d)));
  });

  it('prints the changes in the same order from a shell', async () => {
    const location = locationOf('moved');
    const lines: JsonObject[] = [];
    await readTable({ what: 'changes', name: location, location, canonical: false }, (line) => {
      lines.push(parseJson(line, 'line') as JsonObject);
      return Promise.resolve();
    });
    const table = await openTable(location);
    const counted = (read: readonly JsonObject[]): readonly number[] => [read.length, folded(read).size];
    expect(counted(lines)).toEqual(counted(await all(changes(table, { fromVersion: 0 }))));
    expect(folded(lines).size).toBe((await all(rows(table))).length);
  });

  it('gives numbers by their type and not by their size, inside of other values too', async () => {
    const table = await openTable(locationOf('numbers'));
    const expected = ['', '-'].map((sign) => {
      const of = (value: number): number => (sign === '' ? value : -value);
      const long = (value: number): bigint => BigInt(of(value));
      return { l: long(1), i: of(1), d: of(1e17), a: [long(2), 9007199254740993n], s: { l: long(3), i: 4 }, m: [[long(5), 6]] };
    });
    const inOrder = (read: readonly JsonObject[]) => [...read].sort((a, b) => Number(b['l']) - Number(a['l']));
    expect(inOrder(await all(rows(table)))).toEqual(expected);
    const changed = await all(changes(table, { fromVersion: 0 }));
    expect(inOrder(changed)).toMatchObject(expected);
    const number = format === 'delta' ? '_commit_version' : '_commit_snapshot_id';
    expect(typeof changed[0]?.[number]).toBe('bigint');
  });
});
