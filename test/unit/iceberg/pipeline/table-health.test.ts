import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toVersion, type Version } from '../../../../src/table/version.ts';
import { PipelineTable } from '../../../support/iceberg/pipeline-table.ts';

const schema = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'pad', type: { kind: 'string' }, nullable: true },
  ],
} as const;
const rule = { targetFileBytes: 128 << 20, minInputFiles: 8, maxGroups: 16 };

describe('the health of an Iceberg table', () => {
  let made: PipelineTable;
  let sizes: readonly number[];
  beforeAll(async () => {
    made = await PipelineTable.create({ schema, properties: { 'history.expire.max-snapshot-age-ms': '0' } });
    for (let file = 0; file < 9; file += 1) {
      const rows = Array.from({ length: 1 + file * 40 }, (_, row) => ({ id: BigInt(row), pad: `${file * row * 7919}` }));
      await made.append(rows);
    }
    sizes = (await made.table.scan(await made.table.refresh())).files.map(({ sizeBytes }) => sizeBytes);
  });
  afterAll(() => made.close());

  it('finds something to compact exactly when a plan by the same settings is not empty', async () => {
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
    const rules = fc.record({
      targetFileBytes: fc.integer({ min: Math.floor(least / 2), max: most * 12 }),
      minInputFiles: fc.integer({ min: 1, max: 10 }),
      maxGroups: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(rules, async (compaction) => {
        const { compactable } = await made.table.health({ compaction });
        const { groups } = await made.table.planCompaction(compaction);
        expect(groups.length > 0).toBe(compactable.files > 0);
        for (const { inputs } of groups) {
          expect(inputs.length).toBeGreaterThan(1);
          expect(inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(compaction.targetFileBytes);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('takes nine files of more than the target for large', async () => {
    const compaction = { ...rule, targetFileBytes: Math.floor(Math.min(...sizes) / 2) };
    expect(await made.table.health({ compaction })).toMatchObject({ fileCount: 9, smallFileCount: 0, compactable: { files: 0 } });
  });

  it('counts the snapshots that expiry would take, by the settings and as far as feeds let go of them', async () => {
    const asked: Version[] = [];
    const held = (version: number) => () => {
      asked.push(toVersion(version));
      return Promise.resolve(toVersion(version));
    };
    expect((await made.table.health({ compaction: rule })).expirableVersions).toBe(8);
    expect((await made.table.health({ compaction: rule, expiryRetentionMs: 3_600_000, keepVersionsFrom: held(1) })).expirableVersions).toBe(
      0,
    );
    expect(asked).toEqual([]);
    expect((await made.table.health({ compaction: rule, keepVersionsFrom: held(1) })).expirableVersions).toBe(0);
    expect(asked).toEqual([1]);
  });
});
