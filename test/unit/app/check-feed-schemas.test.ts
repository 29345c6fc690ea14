import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAppCommands } from '../../../src/app/commands.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { temporarySession } from '../../support/temporary-session.ts';

/** A registry that refuses values. */
let server: Server;
const asked: string[] = [];
const sent: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const answer = request.url?.includes('-value') === true ? { is_compatible: false, messages: ['no'] } : { is_compatible: true };
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      sent.push(Buffer.concat(parts).toString());
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
});

it('asks a registry about the schemas of feeds, by the columns that the table has now, and registers nothing', async () => {
  await using own = await temporarySession();
  const place = `${own.directory}/t`;
  await own.session.sql(
    `CREATE TABLE delta.\`${place}\` (id BIGINT, later STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')`,
  );
  const yaml = `pipeline: p
schemaRegistry: { url: "http://127.0.0.1:${(server.address() as AddressInfo).port}" }
tables:
  - { name: t, path: ${place}, columns: [{ name: id, type: long }] }
  - { name: made, path: ${own.directory}/made, columns: [{ name: id, type: long }] }
feeds:
  - { table: t, keyColumns: [id], encoding: avro, topic: a }
  - { table: t, name: json, topic: b }
  - { table: made, keyColumns: [id], encoding: protobuf, topic: c, transactions: { topic: x } }
`;
  const loaded = loadConfig({ files: ['p.yaml'], env: {}, workingDir: own.directory, readText: () => yaml });
  const checks = await createAppCommands().checkFeedSchemas({ loaded, signal: new AbortController().signal });
  expect(checks).toEqual([
    { feed: 'a', subject: 'a-key', problem: undefined },
    { feed: 'a', subject: 'a-value', problem: 'no' },
    { feed: 'c', subject: 'c-key', problem: undefined },
    { feed: 'c', subject: 'c-value', problem: 'no' },
    { feed: 'c', subject: 'x-key', problem: undefined },
    { feed: 'c', subject: 'x-value', problem: 'no' },
  ]);
  expect(asked).toEqual(
    ['a-key', 'a-value', 'c-key', 'c-value', 'x-key', 'x-value'].map(
      (subject) => `POST /compatibility/subjects/${subject}/versions/latest?verbose=true`,
    ),
  );
  expect(sent.map((body) => body.includes('later'))).toEqual([false, true, false, false, false, false]);
});
