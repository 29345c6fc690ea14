import { describe, expect, it } from 'vitest';
import type { SwapConflict, TablePointer } from '../../src/iceberg/pointer/table-pointer.ts';
import { appended, committed, creation, loaded, withProperties } from '../support/iceberg-changes.ts';

export interface PointerCase {
  readonly pointer: TablePointer;
  /** Another pointer at the same table, as another process has it. */
  readonly reopen: () => TablePointer;
  /** Where the table is to lie. */
  readonly location: string;
}

/** What every table pointer promises. `fixture` gives one of a table that is not there yet. */
export function describeTablePointer(name: string, fixture: () => Promise<PointerCase>): void {
  describe(`${name} as a table pointer`, () => {
    it('finds nothing before the table is made, and the table from then on', async () => {
      const { pointer, reopen, location } = await fixture();
      expect(await pointer.load(undefined)).toBeUndefined();
      const made = committed(await pointer.swap(undefined, creation({ location })));
      expect(made.metadata.location).toBe(location);
      for (const each of [pointer, reopen()]) {
        const found = await loaded(each);
        expect(found.metadataLocation).toBe(made.metadataLocation);
        expect(found.metadata).toEqual(made.metadata);
      }
    });

    it('makes a table once', async () => {
      const { pointer, reopen, location } = await fixture();
      const first = committed(await pointer.swap(undefined, creation({ location })));
      const second = await reopen().swap(undefined, creation({ location, uuid: '99999999-2222-4333-8444-555555555555' }));
      expect(second.kind).toBe('conflicted');
      expect((await loaded(pointer)).metadata.tableUuid).toBe(first.metadata.tableUuid);
    });

    it('hands out what the caller has as long as it is the newest, and what is newer afterwards', async () => {
      const { pointer, reopen, location } = await fixture();
      committed(await pointer.swap(undefined, creation({ location })));
      const first = await loaded(pointer);
      expect(await pointer.load(first)).toBe(first);
      const other = reopen();
      const second = committed(await other.swap(await loaded(other), withProperties(first, { a: '1' })));
      const seen = await pointer.load(first);
      expect(seen?.metadataLocation).toBe(second.metadataLocation);
      expect(seen?.metadata.properties['a']).toBe('1');
    });

    it('keeps numbers beyond the doubles', async () => {
      const { pointer, reopen, location } = await fixture();
      const base = committed(await pointer.swap(undefined, creation({ location })));
      const id = 9_007_199_254_740_993n;
      const next = committed(await pointer.swap(base, appended(base, id)));
      expect(next.metadata.currentSnapshotId).toBe(id);
      expect((await loaded(reopen())).metadata.currentSnapshotId).toBe(id);
    });

    it('remembers where the metadata before was', async () => {
      const { pointer, location } = await fixture();
      const base = committed(await pointer.swap(undefined, creation({ location })));
      const next = committed(await pointer.swap(base, withProperties(base, { a: '1' })));
      expect(next.metadata.metadataLog.map((entry) => entry.metadataFile)).toEqual([base.metadataLocation]);
    });

    it('refuses a change of a base that is not the newest, and changes nothing then', async () => {
      const { pointer, reopen, location } = await fixture();
      const base = committed(await pointer.swap(undefined, creation({ location })));
      const next = committed(await reopen().swap(base, appended(base, 1n)));
      const late = await pointer.swap(base, appended(base, 2n));
      expect(late).toMatchObject({ kind: 'conflicted', reason: expect.stringMatching(/./) as string });
      const newest = await loaded(reopen());
      expect(newest.metadataLocation).toBe(next.metadataLocation);
      expect(newest.metadata.snapshots.map((snapshot) => snapshot.snapshotId)).toEqual([1n]);
    });

    it('asks whether all is there right before the change is live, and takes no for an answer', async () => {
      const { pointer, reopen, location } = await fixture();
      const base = committed(await pointer.swap(undefined, creation({ location })));
      const seen: unknown[] = [];
      const prove = async (): Promise<SwapConflict> => {
        seen.push((await loaded(reopen())).metadata.currentSnapshotId);
        return { kind: 'conflicted', reason: 'something is gone' };
      };
      const refused = await pointer.swap(base, { ...appended(base, 1n), prove });
      expect(refused).toEqual({ kind: 'conflicted', reason: 'something is gone' });
      expect(seen).toEqual([undefined]);
      expect((await loaded(reopen())).metadata.currentSnapshotId).toBeUndefined();
      committed(await pointer.swap(base, appended(base, 2n)));
    });

    it('takes a change that changes nothing for done', async () => {
      const { pointer, reopen, location } = await fixture();
      const base = committed(await pointer.swap(undefined, creation({ location, properties: { a: '1' } })));
      const same = committed(await pointer.swap(base, { requirements: [], updates: [] }));
      expect(same.metadata).toEqual(base.metadata);
      expect((await loaded(reopen())).metadata).toEqual(base.metadata);
    });

    it('lets exactly one of eight racing changes of one base win', async () => {
      const { pointer, reopen, location } = await fixture();
      let base = committed(await pointer.swap(undefined, creation({ location })));
      const pointers = [pointer, ...Array.from({ length: 7 }, reopen)];
      for (let round = 0; round < 5; round += 1) {
        const started = base;
        const outcomes = await Promise.all(
          pointers.map((each, writer) => each.swap(started, appended(started, BigInt(round * 100 + writer + 1)))),
        );
        const winners = outcomes.filter((outcome) => outcome.kind === 'committed');
        expect(outcomes.filter((outcome) => outcome.kind === 'unknown')).toEqual([]);
        expect(winners).toHaveLength(1);
        base = await loaded(pointer);
        expect(base.metadata.snapshots).toHaveLength(round + 1);
        expect(winners[0]).toMatchObject({ loaded: { metadataLocation: base.metadataLocation } });
      }
    });

    it('writes compressed metadata when the table asks for it', async () => {
      const { pointer, reopen, location } = await fixture();
      const properties = { 'write.metadata.compression-codec': 'gzip' };
      const base = committed(await pointer.swap(undefined, creation({ location, properties })));
      const next = committed(await pointer.swap(base, withProperties(base, { a: '1' })));
      expect(next.metadataLocation).toMatch(/\.gz\.metadata\.json$/);
      expect((await loaded(reopen())).metadata).toEqual(next.metadata);
    });

    it('deletes metadata files that the log has dropped when the table asks for it', async () => {
      const { pointer, reopen, location } = await fixture();
      const properties = { 'write.metadata.delete-after-commit.enabled': 'true', 'write.metadata.previous-versions-max': '2' };
      let base = committed(await pointer.swap(undefined, creation({ location, properties })));
      for (let change = 0; change < 4; change += 1) base = committed(await pointer.swap(base, withProperties(base, { a: String(change) })));
      expect(base.metadata.metadataLog).toHaveLength(2);
      const other = reopen();
      expect((await loaded(other)).metadata.properties['a']).toBe('3');
      const last = committed(await other.swap(base, withProperties(base, { a: 'last' })));
      expect((await pointer.load(base))?.metadataLocation).toBe(last.metadataLocation);
    });

    it('does nothing for a caller that has cancelled', async () => {
      const { pointer, location } = await fixture();
      const cancelled = AbortSignal.abort();
      await expect(pointer.load(undefined, cancelled)).rejects.toMatchObject({ kind: 'aborted' });
      await expect(pointer.swap(undefined, creation({ location }), cancelled)).rejects.toMatchObject({ kind: 'aborted' });
      expect(await pointer.load(undefined)).toBeUndefined();
    });
  });
}
