import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReadTableRequest } from '../../src/app/app-commands.ts';
import { readTable } from '../../src/app/commands/read-command.ts';
import { openTable, rows } from '../../src/app/library.ts';
import { isJsonObject } from '../../src/base/bigint-json.ts';
import { sortedLines } from '../../src/codec/canonical-json.ts';
import { GoldenIceberg, textOf } from '../support/golden-iceberg.ts';
import { canonicalText, listOf } from '../support/golden-tables.ts';

describe('reading Iceberg tables by path', () => {
  let golden: GoldenIceberg;

  beforeAll(async () => {
    golden = await GoldenIceberg.unpack('fixtures-iceberg');
  });

  afterAll(async () => {
    await golden.close();
  });

  const folderOf = (name: string): string => join(golden.directory, 'iceberg', name, 'table');
  const placeOf = (name: string): Pick<ReadTableRequest, 'name' | 'location' | 'pathMap'> => {
    const from = textOf(golden.expectation(`iceberg/${name}`)['recordedLocation']);
    return { name, location: folderOf(name), pathMap: [{ from, to: folderOf(name) }] };
  };

  async function lines(name: string, request: Partial<ReadTableRequest> & Pick<ReadTableRequest, 'what'>): Promise<readonly string[]> {
    const read: string[] = [];
    await readTable({ ...placeOf(name), canonical: true, ...request }, (line) => {
      read.push(line);
      return Promise.resolve();
    });
    return read;
  }

  const expectedRows = (name: string, state: string): readonly string[] => {
    const states = golden.expectation(`iceberg/${name}`)['rows'];
    return sortedLines(listOf(isJsonObject(states) ? states[state] : []).map(canonicalText));
  };

  it('prints the canonical lines that other engines print, of a folder or of one metadata file', async () => {
    expect(await lines('branches-tags', { what: 'rows' })).toEqual(expectedRows('branches-tags', 'current'));
    expect(await lines('branches-tags', { what: 'rows', ref: 'tag with space' })).toEqual(
      expectedRows('branches-tags', 'ref:tag with space'),
    );
    expect(await lines('branches-tags', { what: 'rows', snapshotId: 6851939263629641552n })).toEqual(
      expectedRows('branches-tags', 'snapshot:6851939263629641552'),
    );
    const location = join(folderOf('seed-operations'), 'metadata', 'v11.metadata.json');
    expect(await lines('seed-operations', { what: 'rows', location })).toEqual(expectedRows('seed-operations', 'current'));
  });

  it('prints columns with their ids, and snapshots with their summaries', async () => {
    const [first] = await lines('v1-table', { what: 'schema' });
    expect(first).toMatch(/^\{"id":1,"name":"\w+","nullable":true,"partition":(true|false),"pos":0,"type":"\w+"\}$/);
    const snapshots = await lines('v1-table', { what: 'history' });
    expect(snapshots).toHaveLength(4);
    expect(snapshots[0]).toContain('"operation":"append"');
    expect(await lines('v1-table', { what: 'history', limit: 1 })).toEqual(snapshots.slice(-1));
  });

  it('refuses two versions at once, and tells what there is instead of a name that is none', async () => {
    await expect(lines('v1-table', { what: 'rows', ref: 'main', snapshotId: 1n })).rejects.toMatchObject({
      code: 'USAGE_SEVERAL_VERSIONS',
    });
    await expect(lines('v1-table', { what: 'rows', ref: 'nope' })).rejects.toMatchObject({ code: 'CANNOT_FIND_SNAPSHOT' });
    await expect(lines('v1-table', { what: 'rows', location: golden.directory })).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND' });
  });

  it('reads them in a program, deletes applied', async () => {
    const { location, pathMap } = placeOf('equality-deletes');
    const table = await openTable(location, { pathMap });
    const read: string[] = [];
    for await (const row of rows(table)) read.push(canonicalText(row));
    expect(sortedLines(read)).toEqual(expectedRows('equality-deletes', 'current'));
  });
});
