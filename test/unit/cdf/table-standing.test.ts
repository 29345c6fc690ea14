import { afterEach, describe, expect, it } from 'vitest';
import { standingOfTable } from '../../../src/cdf/table-standing.ts';
import { rollbackToSnapshot } from '../../../src/iceberg/operations/refs/move-main.ts';
import type { FeedPosition } from '../../../src/protocol/change-event.ts';
import { toVersion } from '../../../src/table/version.ts';
import { PipelineTable } from '../../support/iceberg/pipeline-table.ts';
import { ChangeTable } from './change-table.ts';

const positionAt = (version: number, more: Partial<FeedPosition> = {}): FeedPosition => ({
  ...{ version: toVersion(version), ordinal: 0, complete: true, snapshot: false, tableId: 'table-1', order: '[]' },
  ...more,
});

describe('what keeps a feed from going on', () => {
  const open: PipelineTable[] = [];
  afterEach(async () => {
    for (const table of open.splice(0)) await table.close();
  });

  it('is a table that is gone, that is another one, or that ends before the position', async () => {
    const table = new ChangeTable();
    for (let version = 0; version < 3; version++) await table.commit([]);
    const now = { table, newest: await table.refresh() };
    expect(await standingOfTable(undefined, positionAt(1))).toBe('table-gone');
    expect(await standingOfTable(now, positionAt(1, { tableId: 'table-2' }))).toBe('table-replaced');
    expect(await standingOfTable(now, positionAt(3))).toBe('gap');
    for (const version of [-1, 0, 2]) expect(await standingOfTable(now, positionAt(version))).toBeUndefined();
  });

  it('is a rollback of an Iceberg table to before the position, also when it grew past it since', async () => {
    const made = await PipelineTable.create({
      schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }] },
      properties: {},
    });
    open.push(made);
    const { table } = made;
    await made.append([{ id: 1n }]);
    const kept = await table.refresh();
    await made.append([{ id: 2n }]);
    const { tableId, snapshotId } = await table.refresh();
    const position = positionAt(2, { tableId, link: String(snapshotId) });
    expect(await standingOfTable({ table, newest: await table.refresh() }, position)).toBeUndefined();
    await rollbackToSnapshot(table.context, kept.snapshotId ?? 0n);
    expect(await standingOfTable({ table, newest: await table.refresh() }, position)).toBe('gap');
    await made.append([{ id: 3n }]);
    expect(await standingOfTable({ table, newest: await table.refresh() }, position)).toBe('gap');
    const followed = positionAt(1, { tableId, link: String(kept.snapshotId) });
    expect(await standingOfTable({ table, newest: await table.refresh() }, followed)).toBeUndefined();
  });
});
