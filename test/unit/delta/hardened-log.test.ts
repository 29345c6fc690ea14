import { beforeEach, describe, expect, it } from 'vitest';
import { commitPath } from '../../../src/delta/log/log-names.ts';
import { DeltaBench } from '../../support/delta-bench.ts';

/** Logs as careless writers, editors and copies leave them. */
describe('a log', () => {
  let bench: DeltaBench;

  beforeEach(async () => {
    bench = new DeltaBench();
    await bench.create();
    await bench.append(['a']);
  });

  const text = async (version: number): Promise<string> => new TextDecoder().decode(await bench.store.read(commitPath(version)));
  const put = (version: number, content: string): Promise<void> => bench.store.put(commitPath(version), new TextEncoder().encode(content));
  const newest = async () => bench.process().refresh();

  it.each([
    ['a byte order mark', (commit: string) => `\ufeff${commit}`],
    ['carriage returns and empty lines', (commit: string) => commit.replaceAll('\n', '\r\n\r\n')],
    ['no line feed at the end', (commit: string) => commit.trimEnd()],
    [
      'actions and members nobody knows',
      (commit: string) => `{"somethingNew":{"a":[1]}}\n${commit.replaceAll('"dataChange"', '"extra":{},"dataChange"')}`,
    ],
  ])('is read with %s', async (_, change) => {
    await put(1, change(await text(1)));
    expect(await newest()).toMatchObject({ version: 1, fileCount: 1, rowCount: 1 });
  });

  it('takes an empty commit file for a version without actions, as other engines do', async () => {
    await put(2, '');
    await bench.store.put(commitPath(3), await bench.store.read(commitPath(2)));
    expect(await newest()).toMatchObject({ version: 3, fileCount: 1 });
  });

  it.each([
    ['cut in the middle of a line', (commit: string) => commit.slice(0, -20)],
    ['without protocol', () => '{"commitInfo":{}}\n'],
    ['not UTF-8', () => '\u0000'],
    ['a list', () => '[1]\n'],
    ['two actions in one line', () => '{"txn":{"appId":"a","version":1},"remove":{"path":"x","dataChange":true}}\n'],
    ['numbers that are none', () => '{"add":{"path":"x","partitionValues":{},"size":"1","modificationTime":1,"dataChange":true}}\n'],
    ['half of a surrogate pair', () => '{"txn":{"appId":"\\ud800x","version":1}}\n'],
    ['paths that are not encoded', () => '{"add":{"path":"100%","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}\n'],
  ])('is refused for a first commit that is %s', async (_, change) => {
    await put(0, change(await text(0)));
    await expect(newest()).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it.each([
    '00009007199254740993.json',
    '09223372036854775807.json',
    '99999999999999999999.json',
    '00009007199254740993.checkpoint.parquet',
  ])('is refused with %s in it, behind which a gap would go unseen', async (name) => {
    await bench.store.put(`_delta_log/${name}`, new TextEncoder().encode(await text(1)));
    await expect(newest()).rejects.toMatchObject({ code: 'DELTA_LOG_CORRUPT', message: expect.stringContaining(name) as string });
  });

  it('survives values that nest without end', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    await put(2, `{"commitInfo":{"operation":"WRITE","tags":${deep}}}\n`);
    const outcome = await newest().then(
      ({ version }) => version,
      (error: unknown) => error,
    );
    expect(outcome === 2 || (outcome instanceof Error && 'kind' in outcome && outcome.kind === 'corrupt')).toBe(true);
  });

  it('says of types that nest without end that the schema is damaged', async () => {
    const type = '{\\"type\\":\\"array\\",\\"containsNull\\":true,\\"elementType\\":'.repeat(2000);
    const schema = `{\\"type\\":\\"struct\\",\\"fields\\":[{\\"name\\":\\"c\\",\\"nullable\\":true,\\"metadata\\":{},\\"type\\":${type}\\"string\\"${'}'.repeat(2000)}}]}`;
    const metadata = `{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"${schema}","partitionColumns":[],"configuration":{}}}`;
    await put(2, `${metadata}\n`);
    await expect(newest()).rejects.toMatchObject({ code: 'DELTA_SCHEMA_INVALID', kind: 'corrupt' });
  });
});
