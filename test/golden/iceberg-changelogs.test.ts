import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeLinesOf, type ReadRequest } from '../../src/app/read-lines.ts';
import type { JsonObject } from '../../src/base/bigint-json.ts';
import { canonicalRows, sortedLines } from '../../src/codec/canonical-json.ts';
import { ancestorsOf } from '../../src/iceberg/ancestry.ts';
import type { IcebergTable } from '../../src/iceberg/iceberg-table.ts';
import type { ChangelogRequest } from '../../src/table/queries.ts';
import { GoldenIceberg, textOf } from '../support/golden-iceberg.ts';
import { canonicalText, casesOf, listOf, objectsOf } from '../support/golden-tables.ts';

const pack = 'fixtures-iceberg';
const cases = casesOf(pack).filter((name) => name.startsWith('iceberg/'));
let compared = 0;
let reached = 0;

describe('changelogs that Spark has told', () => {
  let golden: GoldenIceberg;

  beforeAll(async () => {
    golden = await GoldenIceberg.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  it.each(cases)('%s', async (name) => {
    for (const change of objectsOf(golden.expectation(name)['changes'])) {
      // Where Spark refuses delete files, there are answers here.
      if (change['error'] !== undefined) continue;
      const table = await golden.openRecorded(name);
      const lines = await changes(golden, table, requestOf(change));
      expect(lines, JSON.stringify(change, undefined, 1).slice(0, 200)).toEqual(sortedLines(listOf(change['rows']).map(canonicalText)));
      compared += 1;
    }
  });

  // Snapshots whose first ancestors were expired have rows that no change tells of.
  it.each(cases)('comes from nothing to the rows of every snapshot of %s', async (name) => {
    const table = await golden.openRecorded(name);
    const { metadata } = await table.refresh();
    for (const { snapshotId } of metadata.snapshots) {
      const snapshot = await table.findSnapshot({ kind: 'snapshot-id', id: snapshotId });
      const ancestors = [...ancestorsOf(metadata, snapshot.snapshot)];
      if (ancestors.at(-1)?.parentSnapshotId !== undefined) continue;
      const rows = sortedLines(await golden.rows(table, snapshot, { members: 'sorted' }));
      const range = { until: snapshotId, schemaOf: 'until' } as const;
      expect(folded(await changes(golden, table, range)), `snapshot ${snapshotId}`).toEqual(rows);
      expect(folded(await changes(golden, table, { ...range, netChanges: true })), `net, snapshot ${snapshotId}`).toEqual(rows);
      reached += 1;
    }
  });

  it('prints the changes of snapshots in order, an update as two neighbours', async () => {
    const table = await golden.openRecorded('iceberg/changelog');
    const printed = async (request: Partial<ReadRequest>): Promise<readonly string[]> => {
      const lines: string[] = [];
      for await (const line of changeLinesOf({ table, engine: golden.engine }, { canonical: false, ...request })) lines.push(line);
      return lines.map((line) => line.replace(/,"_commit_snapshot_id":"\d+"/u, ''));
    };
    expect(await printed({ identifierColumns: ['id'], fromSnapshot: 476506076069157199n, toSnapshot: 1690970243252234663n })).toEqual([
      '{"id":2,"v":"b","n":2,"_change_type":"UPDATE_BEFORE","_change_ordinal":0}',
      '{"id":2,"v":"B","n":2,"_change_type":"UPDATE_AFTER","_change_ordinal":0}',
      '{"id":3,"v":"c","n":null,"_change_type":"UPDATE_BEFORE","_change_ordinal":1}',
      '{"id":3,"v":"C","n":3,"_change_type":"UPDATE_AFTER","_change_ordinal":1}',
      '{"id":4,"v":"D","n":4,"_change_type":"INSERT","_change_ordinal":1}',
    ]);
    expect(await printed({ from: 4, to: 5 })).toEqual(['{"id":1,"v":"a","n":1,"_change_type":"DELETE","_change_ordinal":0}']);
    await expect(printed({ from: 7 })).rejects.toMatchObject({ code: 'TABLE_VERSION_NOT_FOUND' });
    await expect(printed({ from: 4, fromSnapshot: 1n })).rejects.toMatchObject({ code: 'USAGE_SEVERAL_VERSIONS' });
  });

  it('covers the changelogs of the pack', () => {
    expect({ compared, reached }).toEqual({ compared: 10, reached: 94 });
  });
});

function requestOf(change: JsonObject): ChangelogRequest {
  const { from, to, identifier_columns: identifiers, net_changes: net, compute_updates: updates } = change;
  return {
    startAfter: from === undefined ? undefined : BigInt(textOf(from)),
    until: to === undefined ? undefined : BigInt(textOf(to)),
    identifierColumns: identifiers === undefined ? undefined : listOf(identifiers).map(textOf),
    netChanges: net === true,
    computeUpdates: typeof updates === 'boolean' ? updates : undefined,
  };
}

async function changes(golden: GoldenIceberg, table: IcebergTable, request: ChangelogRequest): Promise<readonly string[]> {
  const relation = await table.changelog(request);
  try {
    const lines: string[] = [];
    for await (const batch of golden.engine.read(relation)) lines.push(...canonicalRows(batch, { members: 'sorted' }));
    return sortedLines(lines);
  } finally {
    await relation.dispose();
  }
}

/** The rows that are there after the changes, sorted. */
function folded(lines: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const row = line.replace(/"_change_ordinal":\d+,"_change_type":"[A-Z]+","_commit_snapshot_id":"?\d+"?,?/u, '');
    counts.set(row, (counts.get(row) ?? 0) + (line.includes('"_change_type":"INSERT"') ? 1 : -1));
  }
  return sortedLines([...counts].flatMap(([row, count]) => (count < 0 ? [`${count} of ${row}`] : new Array<string>(count).fill(row))));
}
