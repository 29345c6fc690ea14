import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, printJson } from '../../../src/base/bigint-json.ts';
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

interface FoldedFeed {
  readonly topic: string;
  readonly envelope: string;
  readonly encoding: string;
  readonly keyEncoding: string;
}

describe.skipIf(registry === undefined || python === undefined)('a feed, folded by a foreign client', () => {
  let made: TemporarySession;
  let feeds: Feeds;

  beforeAll(async () => {
    made = await temporarySession();
    feeds = new Feeds(made.directory, registry?.server.url ?? '');
  });
  afterAll(async () => {
    await feeds.close();
    await made[Symbol.asyncDispose]();
    await registry?.[Symbol.asyncDispose]();
  });

  /** The rows of each feed, all folded by one process. */
  async function folded(given: readonly FoldedFeed[]): Promise<ReadonlyMap<string, readonly unknown[]>> {
    const all = { brokers: kafkaBrokers().join(','), registry: registry?.server.url, meanings, feeds: given };
    const lines = (await python?.(here('fold_feed.py'), [JSON.stringify(all)])) ?? '';
    return new Map(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => parseJson(line, 'feed') as { readonly topic: string; readonly rows: readonly JsonValue[] })
        .map(({ topic, rows }) => [topic, sortedRows(rows.map((row) => printJson(row)))]),
    );
  }

  it.each(['delta', 'iceberg'] as const)('of format %s has the rows of the table, in each envelope and each encoding', async (format) => {
    await using own = await temporarySession();
    const place = await publishedTable(own, format);
    const expected = await rowsOfTable(own);
    const published = envelopes.flatMap((envelope) =>
      encodings.map(async (encoding): Promise<FoldedFeed> => {
        const topic = `foreign-${envelope}-${encoding}-${randomUUID()}`;
        const keyEncoding = encoding === 'json-schema' ? 'avro' : encoding;
        const records = { encoding, keyEncoding, cloudEventMode: 'binary' } as const;
        expect(await feeds.publish(place, { topic, envelope, records })).toMatchObject({ state: 'stopped', error: undefined });
        return { topic, envelope: envelope === 'cloudevents' ? 'cloudevents-binary' : envelope, encoding, keyEncoding };
      }),
    );
    const given = await Promise.all(published);
    expect(await folded(given)).toEqual(new Map(given.map(({ topic }) => [topic, expected])));
  });

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
    const rows = await folded([{ topic, envelope: 'after', encoding: 'avro', keyEncoding: 'avro' }]);
    expect(rows.get(topic)).toEqual([
      { id: 1, n: 1 },
      { id: 2, n: 'two' },
    ]);
  });
});
