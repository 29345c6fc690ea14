import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IcebergSession, icebergSession, type ResultRow } from '../../../support/iceberg/iceberg-session.ts';

let ice: IcebergSession;
beforeAll(async () => {
  ice = await icebergSession();
});
afterAll(() => ice[Symbol.asyncDispose]());

const call = (procedure: string, args: string): Promise<readonly ResultRow[]> => ice.sql(`CALL ice.system.${procedure}(${args})`);
const rewrite = async (table: string, args = ''): Promise<ResultRow | undefined> => {
  const [row] = await call('rewrite_data_files', `table => 'db.${table}'${args === '' ? '' : `, ${args}`}`);
  return row;
};
const filesOf = (table: string): Promise<readonly ResultRow[]> => ice.sql(`SELECT * FROM db.${table}.data_files ORDER BY file_path`);
const ids = async (table: string): Promise<readonly unknown[]> =>
  (await ice.sql(`SELECT id FROM db.${table} ORDER BY id`)).map(({ id }) => id);

async function table(name: string, rest: string, inserts: readonly string[]): Promise<void> {
  await ice.sql(`CREATE TABLE db.${name} (id BIGINT, p STRING) USING iceberg ${rest}`);
  for (const values of inserts) await ice.sql(`INSERT INTO db.${name} ${values}`);
}

const six = Array.from({ length: 6 }, (_, index) => `VALUES (${index}, 'a'), (${index + 10}, 'b')`);

describe('rewrite_data_files', () => {
  it('puts the small files of each partition together, with the same rows, as a replace', async () => {
    await table('packed', 'PARTITIONED BY (p)', six);
    const before = await ids('packed');
    const bytes = (await filesOf('packed')).reduce((sum, row) => sum + BigInt(String(row['file_size_in_bytes'])), 0n);
    expect(await rewrite('packed')).toEqual({
      rewritten_data_files_count: 12,
      added_data_files_count: 2,
      rewritten_bytes_count: bytes,
      failed_data_files_count: 0,
      removed_delete_files_count: 0,
    });
    expect(await ids('packed')).toEqual(before);
    expect((await filesOf('packed')).map(({ record_count: count }) => count)).toEqual([6n, 6n]);
    const [newest] = await ice.sql('SELECT operation, summary FROM db.packed.snapshots ORDER BY committed_at DESC LIMIT 1');
    expect(newest?.['operation']).toBe('replace');
    expect((newest?.['summary'] as ReadonlyMap<string, string>).get('deleted-data-files')).toBe('12');
    // Few files are not worth it.
    expect(await rewrite('packed')).toMatchObject({ rewritten_data_files_count: 0, added_data_files_count: 0 });
    expect(await rewrite('packed', "options => map('rewrite-all', 'true')")).toMatchObject({ rewritten_data_files_count: 2 });
  });

  it('rewrites only files that may hold rows of a condition, and only so many', async () => {
    await table('some', 'PARTITIONED BY (p)', six);
    expect(await rewrite('some', 'where => \'p = "a"\'')).toMatchObject({ rewritten_data_files_count: 6, added_data_files_count: 1 });
    const few = await rewrite('some', "options => map('max-files-to-rewrite', '5', 'rewrite-all', 'true')");
    expect(few).toMatchObject({ rewritten_data_files_count: 5 });
  });

  it('rewrites no more files together than a group may have', async () => {
    await table('grouped', 'PARTITIONED BY (p)', six);
    const options = (most: number): string => `options => map('min-input-files', '2', 'max-file-group-input-files', '${most}')`;
    expect(await rewrite('grouped', options(1))).toMatchObject({ rewritten_data_files_count: 0 });
    expect(await rewrite('grouped', options(3))).toMatchObject({ rewritten_data_files_count: 12, added_data_files_count: 4 });
    await expect(rewrite('grouped', options(0))).rejects.toMatchObject({ errorClass: 'INVALID_ARGUMENT' });
  });

  it('does not rewrite a large file for the sake of a few tiny ones', async () => {
    await table('skewed', '', ['SELECT id, sha2(CAST(id AS STRING), 512) FROM range(40000)', ...six.slice(0, 5)]);
    const [large, ...tiny] = (await filesOf('skewed')).toSorted(
      (a, b) => Number(b['file_size_in_bytes']) - Number(a['file_size_in_bytes']),
    );
    expect(Number(large?.['file_size_in_bytes'])).toBeGreaterThan(1 << 20);
    expect(tiny).toHaveLength(5);
    expect(await rewrite('skewed')).toMatchObject({ rewritten_data_files_count: 5, added_data_files_count: 1 });
    expect((await filesOf('skewed')).map(({ file_path: path }) => path)).toContain(large?.['file_path']);
    expect(await rewrite('skewed', "options => map('rewrite-all', 'true')")).toMatchObject({ rewritten_data_files_count: 2 });
  });

  it('leaves deleted rows out, and delete files that concern nothing any more when asked to', async () => {
    await table('deleted', "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')", ["SELECT id, 'x' FROM range(100)"]);
    await ice.sql('DELETE FROM db.deleted WHERE id < 20');
    expect(await rewrite('deleted')).toMatchObject({ rewritten_data_files_count: 0 });
    await ice.sql('DELETE FROM db.deleted WHERE id < 40');
    // 40 of 100 rows are more than the ratio of 0.3. The older delete file goes by its number: no data is older than it.
    expect(await rewrite('deleted')).toMatchObject({ rewritten_data_files_count: 1, removed_delete_files_count: 0 });
    expect(await filesOf('deleted')).toMatchObject([{ record_count: 60n }]);
    expect(await rewrite('deleted', "options => map('remove-dangling-deletes', 'true')")).toMatchObject({ removed_delete_files_count: 1 });
    expect(await ice.sql('SELECT count(*) AS n FROM db.deleted.delete_files')).toEqual([{ n: 0n }]);
    expect(await ids('deleted')).toHaveLength(60);
  });

  it('sorts by the order of the table, by a given one, and along a curve', async () => {
    await table('sorted', '', ["SELECT (id * 7919) % 1000, 'x' FROM range(1000)"]);
    await ice.sql('ALTER TABLE db.sorted WRITE ORDERED BY id');
    const inOrder = async (): Promise<readonly unknown[]> => (await ice.sql('SELECT id FROM db.sorted')).map(({ id }) => id);
    const ascending = Array.from({ length: 1000 }, (_, index) => BigInt(index));
    const all = "options => map('rewrite-all', 'true')";
    await rewrite('sorted', `strategy => 'sort', ${all}`);
    expect(await inOrder()).toEqual(ascending);
    expect(await filesOf('sorted')).toMatchObject([{ sort_order_id: 1 }]);
    await rewrite('sorted', `sort_order => 'id DESC NULLS LAST', ${all}`);
    expect(await inOrder()).toEqual(ascending.toReversed());
    expect(await filesOf('sorted')).toMatchObject([{ sort_order_id: 0 }]);
    await rewrite('sorted', `strategy => 'sort', sort_order => 'zorder(id, p)', ${all}`);
    expect(await ids('sorted')).toEqual(ascending);
  });

  it('divides sorted rows over several files that do not overlap', async () => {
    await table('ranges', '', ['SELECT (id * 7919) % 20000, repeat(sha2(CAST(id AS STRING), 256), 4) FROM range(20000)']);
    const [whole] = await filesOf('ranges');
    const target = Math.ceil(Number(whole?.['file_size_in_bytes']) / 4);
    const options = `options => map('rewrite-all', 'true', 'target-file-size-bytes', '${target}')`;
    expect(await rewrite('ranges', `sort_order => 'id', ${options}`)).toMatchObject({
      rewritten_data_files_count: 1,
      added_data_files_count: 4,
    });
    const ranges = await ice.sql(
      'SELECT readable_metrics.id.lower_bound AS low, readable_metrics.id.upper_bound AS high FROM db.ranges.data_files ORDER BY low',
    );
    for (const [index, { low }] of ranges.entries()) {
      if (index > 0) expect(BigInt(String(low))).toBeGreaterThan(BigInt(String(ranges[index - 1]?.['high'])));
    }
  });

  it('brings files of older partition specs into the newest one', async () => {
    await table('evolved', '', six);
    await ice.sql('ALTER TABLE db.evolved ADD PARTITION FIELD p');
    expect(await rewrite('evolved')).toMatchObject({ rewritten_data_files_count: 6, added_data_files_count: 2 });
    expect((await filesOf('evolved')).map(({ spec_id: spec }) => spec)).toEqual([1, 1]);
    expect(await ids('evolved')).toHaveLength(12);
  });

  it('keeps the ids of rows and the versions they were changed by', async () => {
    await table('tracked', "TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')", six);
    const before = await ids('tracked');
    await ice.sql('DELETE FROM db.tracked WHERE id IN (3, 13)');
    await rewrite('tracked', "options => map('rewrite-all', 'true')");
    expect(await ids('tracked')).toEqual(before.filter((id) => id !== 3n && id !== 13n));
    expect(await ice.sql('SELECT count(*) AS n FROM db.tracked.delete_files')).toEqual([{ n: 0n }]);
    const [file] = await filesOf('tracked');
    const stored = await ice.sql(`SELECT * FROM parquet.\`${String(file?.['file_path'])}\` ORDER BY _row_id`);
    const lineage = stored.map((row) => [row['id'], row['_row_id'], row['_last_updated_sequence_number']]);
    // Of six inserts of two rows the fourth was deleted.
    const kept = [0, 1, 2, 4, 5].flatMap((turn) =>
      [turn, turn + 10].map((id, place) => [BigInt(id), BigInt(2 * turn + place), BigInt(turn + 1)]),
    );
    expect(lineage).toEqual(kept);
  });

  it('keeps the sequence number it began at, so that deletes of later snapshots still count', async () => {
    await table('numbered', '', six);
    const numbers = async (): Promise<readonly unknown[]> => {
      const entries = await ice.sql('SELECT status, sequence_number AS data, file_sequence_number AS file FROM db.numbered.entries');
      return entries.filter(({ status }) => status === 1).map(({ data, file }) => [data, file]);
    };
    await rewrite('numbered');
    expect(await numbers()).toEqual([[6n, 7n]]);
    await rewrite('numbered', "options => map('rewrite-all', 'true', 'use-starting-sequence-number', 'false')");
    expect(await numbers()).toEqual([[8n, 8n]]);
  });

  it('takes row groups over as they are when they are large enough', async () => {
    const values = 'SELECT id, repeat(sha2(CAST(id AS STRING), 256), 2) FROM range(20000)';
    await table('bytes', '', [values, values]);
    const before = await filesOf('bytes');
    const inputs = await Promise.all(before.map(({ file_path: path }) => readFile(String(path))));
    await rewrite('bytes', "options => map('min-input-files', '2')");
    const [file] = await filesOf('bytes');
    const output = await readFile(join(String(file?.['file_path'])));
    const [first = Buffer.alloc(0)] = inputs;
    expect(output.subarray(0, 100_000).equals(first.subarray(0, 100_000))).toBe(true);
    expect(file).toMatchObject({ record_count: 40_000n, sort_order_id: 0 });
    expect(file?.['split_offsets']).toHaveLength(2);
    expect(await ice.sql('SELECT count(*) AS n, min(id) AS low, max(id) AS high FROM db.bytes')).toEqual([
      { n: 40_000n, low: 0n, high: 19_999n },
    ]);
    const sizes = (rows: readonly ResultRow[]): readonly unknown[] => rows.map((row) => row['value_counts']);
    expect(sizes([file ?? {}])).toEqual([
      new Map([
        [1, 40_000n],
        [2, 40_000n],
      ]),
    ]);
  });

  it('commits group by group when partial progress is allowed', async () => {
    await table('partial', 'PARTITIONED BY (p)', six);
    const options = "options => map('partial-progress.enabled', 'true', 'partial-progress.max-commits', '2')";
    expect(await rewrite('partial', options)).toMatchObject({ rewritten_data_files_count: 12, added_data_files_count: 2 });
    const [counted] = await ice.sql("SELECT count(*) AS n FROM db.partial.snapshots WHERE operation = 'replace'");
    expect(counted).toEqual({ n: 2n });
  });

  it('refuses what makes no sense, in the words of the reference implementation', async () => {
    await table('refused', '', []);
    const refused = (args: string) => expect(rewrite('refused', args)).rejects;
    await refused("options => map('foo', 'bar')").toThrow(
      'Cannot use options [foo], they are not supported by the action or the rewriter BIN-PACK',
    );
    await refused("strategy => 'temp'").toThrow('unsupported strategy: temp. Only binpack or sort is supported');
    await refused("strategy => 'binpack', sort_order => 'id'").toThrow('Must use only one rewriter type (bin-pack, sort, zorder)');
    await refused("strategy => 'sort'").toThrow(/^Cannot sort data without a valid sort order, table '.*' is unsorted/);
    await refused("sort_order => 'id, zorder(p)'").toThrow('Cannot mix identity sort columns and a Zorder sort expression: id, zorder(p)');
    await refused("sort_order => 'nope'").toMatchObject({ errorClass: 'FIELD_NOT_FOUND' });
    await refused("options => map('min-input-files', '0')").toThrow("'min-input-files' is set to 0 but must be > 0");
    await refused("options => map('target-file-size-bytes', '5', 'min-file-size-bytes', '5')").toThrow(
      "'target-file-size-bytes' (5) must be > 'min-file-size-bytes' (5), all new files will be smaller than the min threshold",
    );
    await refused("where => 'nope = 1'").toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' });
  });
});
