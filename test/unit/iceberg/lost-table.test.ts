import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import { PipelineTable } from '../../support/iceberg/pipeline-table.ts';

const schema = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }] } as const;
const writer = 'demo:orders:0:cluster:topic';

describe('an Iceberg table in a directory that somebody took away under a writer', () => {
  const open: PipelineTable[] = [];
  const create = async (options: { readonly staysWithTable?: boolean } = {}): Promise<PipelineTable> => {
    const made = await PipelineTable.create({ schema, properties: {} }, options);
    open.push(made);
    return made;
  };
  const versionsOf = async (made: PipelineTable): Promise<readonly string[]> =>
    (await readdir(join(made.location, 'metadata')).catch(() => [])).filter((name) => name.endsWith('.metadata.json')).sort();
  afterEach(async () => {
    for (const table of open.splice(0)) await table.close();
  });

  it('takes no commit', async () => {
    const made = await create({ staysWithTable: true });
    await made.append([{ id: 1n }], [{ writerId: writer, from: undefined, until: 5n }]);
    const base = await made.table.refresh();
    const staged = await made.stage([{ id: 2n }]);
    await rm(made.location, { recursive: true });
    const attempt = made.commit(staged.files, [{ writerId: writer, from: 5n, until: 6n }], { base });
    await expect(attempt).rejects.toMatchObject({ code: 'TABLE_GONE', kind: 'discontinuity' });
    expect(await versionsOf(made)).toEqual([]);
  });

  it('and made again takes no commit that was worked out from the old one', async () => {
    const made = await create({ staysWithTable: true });
    await made.append([{ id: 1n }]);
    const base = await made.table.refresh();
    const { files } = await made.stage([{ id: 2n }]);
    await rm(made.location, { recursive: true });
    const others = new IcebergTables(made.parts);
    const definition = { schema, partitionColumns: [], properties: {} };
    await others.createTable({ name: 't', location: made.location, definition, mode: 'create' });
    const theirs = await made.reopened();
    await made.append([{ id: 7n }], [], { table: theirs });
    const versions = await versionsOf(made);
    await expect(made.commit(files, [], { base })).rejects.toMatchObject({ code: 'TABLE_REPLACED', kind: 'discontinuity' });
    expect(await versionsOf(made)).toEqual(versions);
    await expect(made.table.refresh()).rejects.toMatchObject({ code: 'TABLE_REPLACED' });
  });

  it('does not get a snapshot of files that were deleted before the commit', async () => {
    const made = await create();
    const base = await made.table.refresh();
    const { files } = await made.stage([{ id: 1n }]);
    const path = files[0]?.path ?? '';
    await rm(join(made.location, 'data', path));
    const outcome = await made.commit(files, [], { base });
    expect(outcome).toMatchObject({ kind: 'conflicted', conflict: { kind: 'staged-missing', path: join(made.location, 'data', path) } });
    expect((await made.table.refresh()).version).toBe(0);
    // What lists them is not left behind either.
    expect((await readdir(join(made.location, 'metadata'))).filter((name) => name.endsWith('.avro'))).toEqual([]);
    await made.append([{ id: 1n }]);
  });
});
