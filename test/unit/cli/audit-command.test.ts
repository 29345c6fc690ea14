import { describe, expect, it } from 'vitest';
import type { AppCommands, AuditReport, AuditRequest } from '../../../src/app/app-commands.ts';
import { toVersion } from '../../../src/table/version.ts';
import { cli } from './cli-support.ts';

describe('audit', () => {
  const sound: AuditReport = {
    table: 't',
    level: 'log',
    verdict: 'sound',
    versions: 3,
    commits: 2,
    records: 10,
    rows: 9,
    recordsWithRows: 9,
    replayed: 0,
    keyedCommits: 0,
    deadLettered: 1,
    filtered: 0,
    proven: { from: toVersion(0), until: toVersion(2), complete: true },
    offsets: new Map([['orders:0', 10n]]),
    ranges: [{ pipeline: 'demo', topic: 'orders', partition: 0, from: 0n, until: 10n }],
    foreign: [],
    foreignCount: 0,
    checked: ['log: all of it'],
    unchecked: ['rows: any of them'],
    findings: [{ level: 'note', version: toVersion(1), rule: 'decision', text: 'somebody decided' }],
    untoldFindings: 0,
  };
  const answering = (report: AuditReport): { readonly app: Partial<AppCommands>; readonly requests: AuditRequest[] } => {
    const requests: AuditRequest[] = [];
    const audit: AppCommands['audit'] = (request) => {
      requests.push(request);
      return Promise.resolve(report);
    };
    return { app: { audit }, requests };
  };

  it('says what was proven, checked and not checked, and ends with 0 when it is sound', async () => {
    const { app, requests } = answering(sound);
    const good = await cli('audit ./t', { app, files: {} });
    expect(good.code).toBe(0);
    expect(good.out).toContain('sound');
    expect(good.out).toContain('t: proven: versions 0 to 2, the whole history: orders:0 [0, 10)');
    expect(good.out).toContain('t: checked log: all of it\nt: not checked rows: any of them\n');
    expect(good.out).toContain('note t: version 1, decision: somebody decided');
    expect(requests).toMatchObject([{ name: './t', location: '/work/t', level: 'log', columns: undefined }]);
  });

  it('names changes by others, and is not broken by them', async () => {
    const change = {
      version: toVersion(2),
      committedAt: 0,
      operation: 'DELETE',
      engine: 'Spark',
      netRows: -4,
      addedFiles: 0,
      removedFiles: 1,
    };
    const { app } = answering({ ...sound, verdict: 'changed', foreign: [change], foreignCount: 1 });
    const { code, out } = await cli('audit ./t', { app, files: {} });
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('changed by others: version 2, 1970-01-01 00:00:00Z, DELETE by Spark, -4 rows'),
    ]);
  });

  it('ends with 4 when it is broken', async () => {
    const finding = { level: 'error', version: undefined, rule: 'file', text: 'data file "f" is gone' } as const;
    const { app, requests } = answering({ ...sound, level: 'files', verdict: 'broken', findings: [finding] });
    const bad = await cli('audit ./t --files --json', { app, files: {} });
    expect(bad.code).toBe(4);
    expect(JSON.parse(bad.out)).toMatchObject({
      table: 't',
      level: 'files',
      verdict: 'broken',
      sound: false,
      proven: { fromVersion: 0, untilVersion: 2, complete: true, offsets: [{ topic: 'orders', partition: 0, from: 0, until: 10 }] },
      notChecked: ['rows: any of them'],
      findings: [{ severity: 'error', version: null, rule: 'file', message: 'data file "f" is gone' }],
    });
    expect(requests).toMatchObject([{ level: 'files' }]);
  });

  it('takes the columns that hold the source from the configuration, or from a flag', async () => {
    const files = {
      '/work/tidewater.yaml': `
pipeline: demo
tables: [{ name: orders, columns: [{ name: id, type: long }, { name: o, type: long, from: offset }, { name: p, type: integer, from: partition }] }]
`,
    };
    const { app, requests } = answering(sound);
    await cli('audit --rows', { app, files });
    await cli('audit ./t --rows --source-columns offset=a,topic=b', { app, files: {} });
    expect(requests.map(({ level, columns }) => [level, columns])).toEqual([
      ['rows', { offset: 'o', partition: 'p', topic: undefined }],
      ['rows', { offset: 'a', partition: undefined, topic: 'b' }],
    ]);
    expect((await cli('audit ./t --source-columns topic=b', { app, files: {} })).code).toBe(2);
  });
});
