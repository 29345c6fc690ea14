import { describe, expect, it } from 'vitest';
import { alterTable } from '../../../../src/iceberg/definition/alter-table.ts';
import { referredFiles } from '../../../../src/iceberg/operations/orphans/remove-orphan-files.ts';
import { icebergProcedures } from '../../../../src/iceberg/operations/procedures/iceberg-procedures.ts';
import { rewriteManifests } from '../../../../src/iceberg/operations/rewrite/rewrite-manifests.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import {
  change,
  contentOf,
  created,
  dataFile,
  liveNames,
  memoryContext,
  memoryLocation,
  memoryStore,
  pathsBelow,
} from '../../../support/iceberg/memory-table.ts';

const byId = { partitioning: [{ source: ['id'], transform: { kind: 'identity' } as const }] };

async function append(context: TableContext, names: readonly string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    const file = dataFile(name, { partition: [BigInt(index % 2)] });
    await commitSnapshot(context, await context.refresh(), change({ added: [file] }));
  }
}

describe('rewriteManifests', () => {
  it('puts manifests together, entries by partition, each with the numbers it came with', async () => {
    const context = memoryContext();
    await created(context, byId);
    await append(context, ['a', 'b', 'c', 'd']);
    const result = await rewriteManifests(context);
    expect(result).toMatchObject({ rewrittenManifests: 4, addedManifests: 1, version: 5 });
    const state = await context.refresh();
    const [only, ...others] = await contentOf(context, state);
    expect(others).toEqual([]);
    expect(only?.manifest).toMatchObject({ addedSnapshotId: state.snapshotId, existingFiles: 4, addedFiles: 0, minSequenceNumber: 1n });
    expect(only?.entries.map(({ status, sequenceNumber, file }) => [status, sequenceNumber, file.partition[0]])).toEqual([
      ['existing', 3n, 0n],
      ['existing', 1n, 0n],
      ['existing', 4n, 1n],
      ['existing', 2n, 1n],
    ]);
    expect(state.snapshot?.summary).toMatchObject({
      operation: 'replace',
      'entries-processed': '4',
      'manifests-created': '1',
      'manifests-kept': '0',
      'manifests-replaced': '4',
      'total-data-files': '4',
    });
    expect(await rewriteManifests(context)).toEqual({ version: undefined, rewrittenManifests: 0, addedManifests: 0 });
  });

  it('makes as many as the target size asks for', async () => {
    const context = memoryContext();
    await created(context, { ...byId, properties: { 'commit.manifest.target-size-bytes': '4000' } });
    await append(context, ['a', 'b', 'c', 'd']);
    const { rewrittenManifests, addedManifests } = await rewriteManifests(context);
    expect(rewrittenManifests).toBe(4);
    expect(addedManifests).toBeGreaterThan(0);
    expect(await liveNames(context, await context.refresh())).toEqual(['a', 'b', 'c', 'd']);
  });

  it('rewrites those of one spec and leaves the others', async () => {
    const context = memoryContext();
    await created(context, { ...byId, properties: { 'commit.manifest-merge.enabled': 'false' } });
    await append(context, ['a', 'b']);
    await alterTable(context, { kind: 'drop-partition-field', field: { source: ['id'], transform: { kind: 'identity' } } });
    const state = await context.refresh();
    await commitSnapshot(context, state, change({ added: [dataFile('c', { specId: state.metadata.defaultSpecId })] }));
    expect(await rewriteManifests(context)).toMatchObject({ rewrittenManifests: 0 });
    const procedure = icebergProcedures(context).find(({ name }) => name === 'rewrite_manifests');
    expect(await procedure?.run(new Map([['spec_id', 0]]))).toEqual([[2, 1]]);
    expect(await liveNames(context, await context.refresh())).toEqual(['a', 'b', 'c']);
    await expect(rewriteManifests(context, { specId: 9 })).rejects.toThrow('Invalid spec id 9');
  });

  it('keeps appends of others, and gives up when somebody replaced a manifest first, leaving nothing behind', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    const other = memoryContext({ store, seed: 2 });
    await created(context, byId);
    await append(context, ['a', 'b']);
    const late = (between: () => Promise<void>): TableContext => {
      let first = true;
      const swap: TableContext['pointer']['swap'] = async (base, swapped) => {
        if (first) await between();
        first = false;
        return context.pointer.swap(base, swapped);
      };
      const load = context.pointer.load.bind(context.pointer);
      const ownPlaces = context.pointer.ownPlaces.bind(context.pointer);
      return { ...context, pointer: { name: 'db.t', singleWriterOnly: undefined, ownPlaces, load, swap } };
    };
    await rewriteManifests(late(() => append(other, ['c'])));
    expect(await liveNames(context, await context.refresh())).toEqual(['a', 'b', 'c']);

    await append(other, ['d']);
    const rival = late(async () => {
      await rewriteManifests(other);
    });
    await context.refresh();
    await expect(rewriteManifests(rival)).rejects.toMatchObject({ kind: 'conflict', alias: 'ValidationException' });
    const referred = new Set<string>();
    const { metadata } = await context.refresh();
    for await (const location of referredFiles(context, { metadata, metadataLocation: undefined }))
      referred.add(location.slice(memoryLocation.length + 1));
    expect((await pathsBelow(context)).filter((path) => path.endsWith('.avro') && !referred.has(path))).toEqual([]);
  });
});
