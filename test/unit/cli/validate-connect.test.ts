import { expect, it } from 'vitest';
import { type CliRun, cli, emptyApp } from './cli-support.ts';

const check = { feed: 'cdf.t', subject: 'cdf.t-value' };

function validated(flags: string, problem: string | undefined): Promise<CliRun> {
  return cli(`config validate --connect${flags}`, {
    app: { ...emptyApp, checkFeedSchemas: () => Promise.resolve([{ ...check, problem }]) },
  });
}

it('config validate --connect tells what the schema registry says, and fails where it refuses a schema', async () => {
  const line = 'schema of feed "cdf.t", subject "cdf.t-value"';
  const valid = 'valid: pipeline "demo", 0 tables, 0 routes, 0 feeds\n';
  expect(await validated('', undefined)).toEqual({ code: 0, out: `${line}: taken\n${valid}`, err: '' });
  expect(await validated('', 'it is another')).toEqual({ code: 1, out: `${line}: it is another\n`, err: '' });
  const { out } = await validated(' --json', 'it is another');
  expect(JSON.parse(out)).toMatchObject({ valid: false, schemas: [{ ...check, problem: 'it is another' }] });
});
