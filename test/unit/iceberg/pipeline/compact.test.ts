import { randomFillSync } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { InputRow } from '../../../../src/codec/build-columns.ts';
import { PipelineTable } from '../../../support/iceberg/pipeline-table.ts';

const schema = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'pad', type: { kind: 'string' }, nullable: true },
  ],
} as const;
const rowsOfPart = 2_000;
const options = { targetFileBytes: 1 << 24, minInputFiles: 2, maxGroups: 4 };

/** Rows that compress badly, so that their row groups are large enough to be taken over. */
function part(number: number, padBytes = 240): readonly InputRow[] {
  return Array.from({ length: rowsOfPart }, (_, index) => ({
    id: BigInt(number * rowsOfPart + index),
    pad: randomFillSync(Buffer.alloc(padBytes)).toString('base64'),
  }));
}

describe('compaction of what the pipeline appended to an Iceberg table', () => {
  const open: PipelineTable[] = [];
  afterEach(async () => {
    for (const table of open.splice(0)) await table.close();
  });

  async function compacted(parts: readonly (readonly InputRow[])[], properties: Readonly<Record<string, string>> = {}) {
    const made = await PipelineTable.create({ schema, properties });
    open.push(made);
    for (const rows of parts) await made.append(rows);
    const { engine } = made.made;
    const rows = async (): Promise<readonly (readonly unknown[])[]> => {
      const held = await engine.scan(await made.table.scan(await made.table.refresh()), { withRowTracking: true });
      try {
        return await engine.rows(`SELECT * FROM (${held.sql}) ORDER BY id`);
      } finally {
        await held.dispose();
      }
    };
    const before = await rows();
    const result = await made.table.compact(await made.table.planCompaction(options));
    expect(result).toMatchObject({ outcome: 'committed', filesRemoved: parts.length, filesAdded: 1 });
    expect(await rows()).toEqual(before);
    const [file] = (await made.table.scan(await made.table.refresh())).files;
    const [groups] = await engine.rows(`SELECT count(DISTINCT row_group_id) FROM parquet_metadata('${file?.path ?? ''}')`);
    return { made, rowGroups: Number(groups?.[0]) };
  }

  it('takes row groups over as they are', async () => {
    const { made, rowGroups } = await compacted([part(0), part(1), part(2)]);
    expect(rowGroups).toBe(3);
    expect((await made.table.refresh()).rowCount).toBe(3 * rowsOfPart);
  });

  it('encodes small row groups anew as one', async () => {
    expect((await compacted([part(0, 3), part(1, 3)])).rowGroups).toBe(1);
  });

  it('encodes rows anew that have ids, and keeps these', async () => {
    expect((await compacted([part(0), part(1)], { 'format-version': '3' })).rowGroups).toBe(1);
  });
});
