import { describe, expect, it } from 'vitest';
import type { AppCommands, ReadTableRequest, ServeOptions, TableSummary, TailOptions } from '../../../src/app/app-commands.ts';
import { abortedError } from '../../../src/base/abort.ts';
import type { JsonObject } from '../../../src/base/bigint-json.ts';
import { toEpochMs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { cli, minimalFile } from './cli-support.ts';

const escape = '\u001b';

describe('usage', () => {
  it.each([
    '',
    'nonsense',
    'serve --role none',
    'history',
    'history t --limit 0',
    'tables --none',
    'maintain',
    'maintain vacuum t --retain 5',
    'describe a b',
  ])('"%s" ends with 2 and says how it is meant', async (line) => {
    const { code, out, err } = await cli(line);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).not.toBe('');
  });

  it('help and version end with 0 on standard output', async () => {
    const help = await cli('--help');
    expect(help.code).toBe(0);
    for (const command of ['serve', 'tables', 'describe', 'history', 'offsets', 'changes', 'sql', 'maintain', 'audit', 'config'])
      expect(help.out).toContain(`\n  ${command}`);
    expect(help.out).toContain('Exit codes: 0 done');
    expect(await cli('--version')).toEqual({ code: 0, out: '1.2.3\n', err: '' });
    expect((await cli('maintain vacuum --help')).out).toContain('--allow-short-retention');
  });
});

describe('errors', () => {
  const failing = (kind: ServiceError['kind'], code = 'A_CODE') => ({
    listTables: () => Promise.reject(new ServiceError({ code, kind, message: 'what', hint: 'do this', cause: new Error('why') })),
  });

  it.each([
    ['not-found', 1],
    ['unavailable', 1],
    ['unknown-outcome', 1],
    ['conflict', 3],
    ['fenced', 3],
    ['corrupt', 4],
    ['discontinuity', 4],
  ] as const)('of kind %s end with %i', async (kind, code) => {
    expect((await cli('tables', { app: failing(kind) })).code).toBe(code);
  });

  it('show code, message, cause and hint on standard error', async () => {
    expect(await cli('tables', { app: failing('unavailable') })).toEqual({
      code: 1,
      out: '',
      err: 'error A_CODE: what\n  caused by: why\nhint  do this\n',
    });
  });

  it('with --json are one object on standard error', async () => {
    const { err, out } = await cli('tables --json', { app: failing('conflict') });
    expect(out).toBe('');
    expect(JSON.parse(err)).toEqual({
      error: { code: 'A_CODE', kind: 'conflict', message: 'what', hint: 'do this', context: {}, causes: ['why'] },
    });
  });

  it('in the configuration end with 2', async () => {
    const { code, err } = await cli('tables --set ingest.worker=1', {
      app: { listTables: (context) => Promise.resolve([{ ...context.loaded.config }] as never) },
    });
    expect(code).toBe(2);
    expect(err).toContain('error CONFIG_UNKNOWN_KEY: --set ingest.worker: ingest.worker: unknown key; did you mean "workers"?');
  });

  it('that nobody foresaw show their stack and end with 1', async () => {
    const { code, err } = await cli('tables', { app: { listTables: () => Promise.reject(new TypeError('x is not a function')) } });
    expect(code).toBe(1);
    expect(err).toContain('TypeError: x is not a function\n    at ');
  });
});

describe('the configuration', () => {
  it('comes from --config, TIDEWATER_CONFIG or tidewater.yaml, with --set before or after the command', async () => {
    const files = { '/work/tidewater.yaml': minimalFile, '/work/a.yaml': 'pipeline: from-a', '/work/b.yaml': 'pipeline: from-b' };
    const pipeline = async (line: string, env = {}): Promise<unknown> =>
      (JSON.parse((await cli(`${line} --json`, { files, env })).out) as { pipeline: string }).pipeline;
    expect(await pipeline('config print')).toBe('demo');
    expect(await pipeline('config print', { TIDEWATER_CONFIG: 'a.yaml' })).toBe('from-a');
    expect(await pipeline('config print --config b.yaml', { TIDEWATER_CONFIG: 'a.yaml' })).toBe('from-b');
    expect(await pipeline('--config b.yaml -c a.yaml config print')).toBe('from-a');
    expect(await pipeline('-s pipeline=set config print')).toBe('set');
    expect(await pipeline('config print --set pipeline=after')).toBe('after');
  });

  it('print --explain tells where each value comes from', async () => {
    const { out } = await cli('config print --explain --set server.port=1');
    expect(out).toMatch(/^server\.port +1 +--set server\.port$/m);
    expect(out).toMatch(/^pipeline +demo +tidewater\.yaml:1:11$/m);
  });

  it('validate says what it found, or what is wrong', async () => {
    expect(await cli('config validate')).toEqual({ code: 0, out: 'valid: pipeline "demo", 0 tables, 0 routes, 0 feeds\n', err: '' });
    expect((await cli('config validate --set pipeline=X')).code).toBe(2);
    expect((await cli('config validate -c missing.yaml')).err).toContain('CONFIG_FILE_UNREADABLE');
  });

  it('schema is JSON', async () => {
    expect(JSON.parse((await cli('config schema')).out)).toMatchObject({ title: 'Tidewater configuration', type: 'object' });
  });
});

describe('serve', () => {
  const recording = (): {
    readonly seen: ServeOptions[];
    readonly app: { serve: (context: unknown, options: ServeOptions) => Promise<number> };
  } => {
    const seen: ServeOptions[] = [];
    return {
      seen,
      app: {
        serve: (_context, options) => {
          seen.push(options);
          return Promise.resolve(0);
        },
      },
    };
  };

  it('runs everything unless told otherwise', async () => {
    const { seen, app } = recording();
    expect((await cli('serve', { app })).code).toBe(0);
    await cli('serve --role cdf', { app });
    await cli('serve --demo --once --rate 100 --json', { app });
    expect(seen).toEqual([
      { role: 'all', demo: false, once: false, rate: undefined, json: false },
      { role: 'cdf', demo: false, once: false, rate: undefined, json: false },
      { role: 'all', demo: true, once: true, rate: 100, json: true },
    ]);
  });

  it('the exit code is the application’s', async () => {
    expect((await cli('serve', { app: { serve: () => Promise.resolve(4) } })).code).toBe(4);
  });

  it.each(['serve --once', 'serve --rate 5', 'serve --demo --role ingest'])('"%s" is wrong usage', async (line) => {
    expect(await cli(line)).toMatchObject({ code: 2, err: expect.stringContaining('USAGE_INVALID') as string });
  });
});

describe('tables', () => {
  const summary: TableSummary = {
    name: 'flights',
    format: 'delta',
    location: '/t/flights',
    version: 12,
    rowCount: 27_004,
    fileCount: 3,
    sizeBytes: 1_572_864,
    committedAt: toEpochMs(Date.UTC(2026, 0, 2, 3, 4, 5)),
  };
  const absent: TableSummary = {
    name: 'x',
    format: 'delta',
    location: '/t/x',
    version: undefined,
    rowCount: undefined,
    fileCount: undefined,
    sizeBytes: undefined,
    committedAt: undefined,
  };
  const app = { listTables: () => Promise.resolve([summary, absent]) };

  it('are an aligned table', async () => {
    expect((await cli('tables', { app })).out.split('\n')).toEqual([
      'TABLE    FORMAT  VERSION    ROWS  FILES     SIZE  COMMITTED             LOCATION',
      'flights  delta        12  27,004      3  1.5 MiB  2026-01-02 03:04:05Z  /t/flights',
      'x        delta         -       -      -        -  -                     /t/x',
      '',
    ]);
  });

  it('with --json are one object a line', async () => {
    const lines = (await cli('tables --json', { app })).out.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      name: 'flights',
      format: 'delta',
      location: '/t/flights',
      version: 12,
      rowCount: 27_004,
      fileCount: 3,
      sizeBytes: 1_572_864,
      committedAt: '2026-01-02T03:04:05.000Z',
    });
  });

  it('are coloured on a terminal only, and not with NO_COLOR', async () => {
    expect((await cli('tables', { app, terminal: true })).out).toContain(escape);
    expect((await cli('tables', { app })).out).not.toContain(escape);
    expect((await cli('tables', { app, terminal: true, env: { NO_COLOR: '1' } })).out).not.toContain(escape);
    expect((await cli('tables --json', { app, terminal: true })).out).not.toContain(escape);
  });

  it('describe shows columns, properties and progress', async () => {
    const description = {
      ...summary,
      tableId: 'id-1',
      columns: [{ name: 'flight_id', type: 'string', nullable: false, partition: false }],
      properties: { 'delta.enableChangeDataFeed': 'true' },
      smallFileCount: 2,
      tombstoneCount: 0,
      versionsSinceCheckpoint: 2,
      progress: [{ writerId: 'demo:flights:0:c:t', value: 9007199254740993n }],
    };
    const setup = { app: { describeTable: () => Promise.resolve(description) } };
    const { out } = await cli('describe flights', setup);
    for (const text of ['flight_id  string  no', 'delta.enableChangeDataFeed  true', 'demo:flights:0:c:t  9,007,199,254,740,993'])
      expect(out).toContain(text);
    expect((await cli('describe flights --json', setup)).out).toContain('"value":9007199254740993');
  });

  it('history and offsets show what matters', async () => {
    const entry = {
      version: 1,
      committedAt: toEpochMs(0),
      operation: 'WRITE',
      addedRows: 10,
      addedFiles: 1,
      removedFiles: 0,
      dataChange: true,
      engineInfo: undefined,
      validThrough: toEpochMs(Date.UTC(2026, 0, 2)),
      sources: ['f/0 [0, 10)'],
    };
    const history = await cli('history flights --limit 5', {
      app: { history: (_context, { limit }) => Promise.resolve(limit === 5 ? [entry] : []) },
    });
    expect(history.out).toContain('WRITE              10  +1 -0  -       2026-01-02 00:00:00Z  f/0 [0, 10)');
    const row = { table: 'flights', topic: 'f', partition: 0, tableOffset: 5n, groupOffset: 4n, earliest: 0n, end: 9007199254740993n };
    const offsets = await cli('offsets --json', { app: { offsets: () => Promise.resolve([row]) } });
    expect(offsets.out).toBe(
      '{"table":"flights","topic":"f","partition":0,"tableOffset":5,"groupOffset":4,"earliest":0,"end":9007199254740993,"lag":9007199254740988}\n',
    );
  });
});

describe('rows, schema and changes', () => {
  const asked = (): { readonly app: Partial<AppCommands>; readonly requests: ReadTableRequest[] } => {
    const requests: ReadTableRequest[] = [];
    const readTable: AppCommands['readTable'] = async (request, onLine) => {
      requests.push(request);
      await onLine('{"id":1}');
    };
    return { app: { readTable }, requests };
  };

  it('read a table by path without any configuration', async () => {
    const { app, requests } = asked();
    const { code, out } = await cli('rows data/t --version 3 --filter id=1 --limit 2 --canonical', { app, files: {} });
    expect([code, out]).toEqual([0, '{"id":1}\n']);
    expect(requests).toMatchObject([
      { what: 'rows', name: 'data/t', location: '/work/data/t', version: 3, filter: 'id=1', limit: 2, canonical: true },
    ]);
    await cli('changes file:///t --from 1 --to 2', { app, files: {} });
    await cli('schema /abs/t --timestamp 2024-01-01', { app, files: {} });
    await cli('history ./t', { app, files: {} });
    expect(requests.slice(1)).toMatchObject([
      { what: 'changes', location: 'file:///t', from: 1, to: 2, canonical: false },
      { what: 'schema', location: '/abs/t', timestamp: '2024-01-01' },
      { what: 'history', location: '/work/t' },
    ]);
    // All of it, unlike the table a terminal gets.
    expect(requests[3]?.limit).toBeUndefined();
  });

  it('find snapshots, branches and moved files of Iceberg tables', async () => {
    const { app, requests } = asked();
    await cli('rows t/x --snapshot-id 9007199254740993 --path-map /lake/t=copy --path-map s3://b/=/c/ --path-base .', { app, files: {} });
    await cli('schema t/x --ref audit', { app, files: {} });
    await cli('history t/metadata/v3.metadata.json --path-map /lake=/c', { app, files: {} });
    expect(requests).toMatchObject([
      {
        snapshotId: 9007199254740993n,
        pathMap: [
          { from: '/lake/t', to: '/work/copy' },
          { from: 's3://b/', to: '/c/' },
        ],
        pathBase: '/work',
      },
      { what: 'schema', ref: 'audit' },
      { what: 'history', location: '/work/t/metadata/v3.metadata.json', pathMap: [{ from: '/lake', to: '/c' }] },
    ]);
    expect((await cli('rows t/x --snapshot-id main', { app, files: {} })).code).toBe(2);
    expect((await cli('rows t/x --path-map nothing', { app, files: {} })).code).toBe(2);
  });

  it('know a name from the configuration, and say which names there are', async () => {
    const { app } = asked();
    const { code, err } = await cli('rows flights', { app });
    expect(code).toBe(2);
    expect(err).toContain('table "flights" is not in the configuration');
    expect((await cli('changes', { app })).code).toBe(2);
  });
});

describe('changes tail', () => {
  const rows: readonly JsonObject[] = [
    {
      id: 9007199254740993n,
      note: 'two words',
      gone: null,
      _change_type: 'insert',
      _commit_version: 3,
      _commit_timestamp: '2026-01-01T00:00:00Z',
    },
    { id: 1, _change_type: 'delete', _commit_version: 4 },
  ];
  const tail = (seen: TailOptions[] = []) => ({
    tailChanges: async (_context: unknown, options: TailOptions, onRow: (row: JsonObject) => Promise<void>) => {
      seen.push(options);
      for (const row of rows) await onRow(row);
    },
  });

  it('prints a row a line', async () => {
    const seen: TailOptions[] = [];
    const { out } = await cli('changes tail flights --from-version 3 --limit 2', { app: tail(seen) });
    expect(out).toBe('+ v3 id=9007199254740993 note="two words" gone=null\n- v4 id=1\n');
    expect(seen).toEqual([{ table: 'flights', fromVersion: 3, follow: false, limit: 2 }]);
    expect((await cli('changes tail flights --json', { app: tail() })).out.split('\n')[1]).toBe(
      '{"id":1,"_change_type":"delete","_commit_version":4}',
    );
  });

  it('interrupting a follow is no failure', async () => {
    const signal = AbortSignal.abort();
    const app = { tailChanges: () => Promise.reject(abortedError(signal)) };
    expect((await cli('changes tail t -f', { app, signal })).code).toBe(0);
    expect((await cli('changes tail t', { app, signal })).code).toBe(1);
  });
});

it('what a table says does not command the terminal: lines of JSON stay the same text', async () => {
  const hostile = 'a\u009b2J\u202eb';
  const app: Partial<AppCommands> = {
    readTable: (_request, write) => write(JSON.stringify({ hostile })),
    history: () =>
      Promise.reject(
        new ServiceError({ code: 'A_CODE', kind: 'invalid', message: hostile, hint: hostile, cause: new Error(`x${hostile}`) }),
      ),
    listTables: () => Promise.resolve([{ name: hostile, format: 'delta', location: `${hostile}\nx` } as TableSummary]),
  };
  const rows = await cli('rows ./t', { app, terminal: true });
  expect(rows.out).toBe('{"hostile":"a\\u009b2J\\u202eb"}\n');
  expect(JSON.parse(rows.out)).toEqual({ hostile });
  const changes: Partial<AppCommands> = {
    tailChanges: (_context, _options, onRow) => onRow({ _change_type: 'insert', _commit_version: 1, v: hostile }),
  };
  expect((await cli('changes tail t', { app: changes })).out).toBe('+ v1 v=a\\u009b2J\\u202eb\n');
  expect((await cli('changes tail t --json', { app: changes, terminal: true })).out).toContain('"a\\u009b2J\\u202eb"');
  expect((await cli('changes tail t --json', { app: changes })).out).toContain(hostile);
  expect((await cli('rows ./t', { app })).out).toBe(`${JSON.stringify({ hostile })}\n`);
  expect((await cli('tables', { app, env: { NO_COLOR: '1' }, terminal: true })).out).not.toMatch(/[\u0080-\u009f\u202e]/u);
  expect((await cli('history t', { app })).err).not.toMatch(/[\u0080-\u009f\u202e]/u);
});
