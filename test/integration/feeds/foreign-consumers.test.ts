import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isServiceError } from '../../../src/base/errors.ts';
import { eventually } from '../../support/process.ts';
import { pythonWith, type RunPython } from '../../support/python-clients.ts';
import { privateRegistry, type TestRegistry } from '../../support/schema-registry.ts';
import { kafkaBrokers, type PrivateServer } from '../../support/servers.ts';
import { type TemporarySession, temporarySession } from '../../support/temporary-session.ts';
import { Feeds, meanings, publishedTable, rowsOfTable, sortedRows } from './published-table.ts';

/* Whoever folds a feed with Confluent's own clients has the table, in each envelope and each encoding. */

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const registry: PrivateServer<TestRegistry> | undefined = await privateRegistry();
const python: RunPython | undefined = await pythonWith(here('requirements.txt'));

const envelopes = ['debezium', 'flat', 'after', 'cloudevents'] as const;
const encodings = ['json', 'json-schema', 'avro', 'protobuf'] as const;

describe.skipIf(registry === undefined || python === undefined)('a feed, folded by a foreign client', () => {
  let made: TemporarySession;
  let feeds: Feeds;
  let place: string;
  let expected: readonly unknown[];

  beforeAll(async () => {
    made = await temporarySession();
    place = await publishedTable(made);
    expected = await rowsOfTable(made);
    feeds = new Feeds(made.directory, registry?.server.url ?? '');
  });
  afterAll(async () => {
    await feeds.close();
    await made[Symbol.asyncDispose]();
    await registry?.[Symbol.asyncDispose]();
  });

  async function folded(topic: string, given: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> {
    const fixed = { brokers: kafkaBrokers().join(','), registry: registry?.server.url, topic, meanings };
    const lines = (await python?.(here('fold_feed.py'), [JSON.stringify({ ...fixed, ...given })])) ?? '';
    return sortedRows(lines.trimEnd().split('\n'));
  }

  it.each(envelopes.flatMap((envelope) => encodings.map((encoding) => [envelope, encoding] as const)))(
    'in envelope %s and encoding %s has the rows of the table',
    async (envelope, encoding) => {
      const topic = `foreign-${randomUUID()}`;
      const keyEncoding = encoding === 'json-schema' ? 'avro' : encoding;
      const records = { encoding, keyEncoding, cloudEventMode: 'binary' } as const;
      expect(await feeds.publish(place, { topic, envelope, records })).toMatchObject({ state: 'stopped', error: undefined });
      const told = envelope === 'cloudevents' ? 'cloudevents-binary' : envelope;
      expect(await folded(topic, { envelope: told, encoding, keyEncoding })).toEqual(expected);
    },
  );

  it('waits before a version whose schema the registry refuses, and goes on when it is taken', async () => {
    const topic = `refused-${randomUUID()}`;
    const [other, url] = [join(made.directory, 'u'), registry?.server.url ?? ''];
    const { session } = made;
    const properties = "'delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name'";
    await session.sql(`CREATE TABLE u (id BIGINT, n INT) USING delta LOCATION '${other}' TBLPROPERTIES (${properties})`);
    await session.sql('INSERT INTO u VALUES (1, 1)');
    const as = { topic, envelope: 'after', records: { encoding: 'avro' } } as const;
    expect(await feeds.publish(other, as)).toMatchObject({ state: 'stopped' });
    const compatibility = async (level: string): Promise<void> => {
      const body = JSON.stringify({ compatibility: level });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/config/${topic}-value`, { method: 'PUT', body, headers });
      expect(answer.ok, await answer.text()).toBe(true);
    };
    await compatibility('BACKWARD');
    for (const statement of ['DROP COLUMN n', 'ADD COLUMN n STRING']) await session.sql(`ALTER TABLE u ${statement}`);
    await session.sql("INSERT INTO u VALUES (2, 'two')");
    const status = await feeds.publish(other, as, async (feed) => {
      await eventually('the refusal is told', () => {
        const { error } = feed.status();
        return Promise.resolve(isServiceError(error) && error.code === 'FEED_SCHEMA_REFUSED');
      });
      await compatibility('NONE');
    });
    expect(status).toMatchObject({ state: 'stopped', error: undefined });
    expect(await folded(topic, { envelope: 'after', encoding: 'avro', keyEncoding: 'avro' })).toEqual([
      { id: 1, n: 1 },
      { id: 2, n: 'two' },
    ]);
  });
});
