import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../src/app/embedded/cache-dir.ts';
import { findJava } from '../../../src/app/embedded/find-java.ts';
import { obtainKafka } from '../../../src/app/embedded/obtain-kafka.ts';
import { type JsonValue, printJson } from '../../../src/base/bigint-json.ts';
import { FeedConsumer, FeedRows } from '../../../src/consumer/index.ts';
import { eventually } from '../../support/process.ts';
import { pythonWith } from '../../support/python-clients.ts';
import { kafkaBrokers } from '../../support/servers.ts';
import { type TemporarySession, temporarySession } from '../../support/temporary-session.ts';
import { testKafka } from '../../support/test-kafka.ts';
import { Feeds, publishedTable, rowsOfTable, sortedRows } from './published-table.ts';

/* What the examples make of a feed is the table. */

const run = promisify(execFile);
const example = (name: string): string => fileURLToPath(new URL(`../../../examples/consumers/${name}`, import.meta.url));
const python = await pythonWith(fileURLToPath(new URL('requirements.txt', import.meta.url)));

describe('the rows of a table, from its feed', () => {
  const topic = `examples-${randomUUID()}`;
  const brokers = kafkaBrokers().join(',');
  let made: TemporarySession;
  let feeds: Feeds;

  beforeAll(async () => {
    made = await temporarySession();
    const place = await publishedTable(made);
    // No registry is asked for JSON.
    feeds = new Feeds(made.directory, 'http://127.0.0.1:9');
    expect(await feeds.publish(place, { topic })).toMatchObject({ state: 'stopped' });
  });
  afterAll(async () => {
    await feeds.close();
    await made[Symbol.asyncDispose]();
  });

  it.skipIf(python === undefined)('are those of the example in Python', async () => {
    const lines = (await python?.(example('fold_feed.py'), [brokers, topic])) ?? '';
    expect(sortedRows(lines.trimEnd().split('\n'))).toEqual(await rowsOfTable(made));
  });

  it('are those of the example in Java', async () => {
    const [java, kafka] = [await findJava(), await obtainKafka({ cacheDir: defaultCacheDir() })];
    const { stdout } = await run(java, ['-cp', join(kafka, '*'), example('FoldFeed.java'), brokers, topic]);
    expect(
      sortedRows(
        stdout
          .trimEnd()
          .split('\n')
          .filter((line) => line.startsWith('{')),
      ),
    ).toEqual(await rowsOfTable(made));
  });

  it('are those of the client of this library', async () => {
    const rows = new FeedRows();
    const feed = new FeedConsumer({
      consumer: testKafka({ brokers: kafkaBrokers() }).consumer({ groupId: topic }),
      topic,
      onChanges: (changes) => {
        for (const change of changes) rows.apply(change);
      },
    });
    await feed.run();
    const expected = await rowsOfTable(made);
    const seen = (): readonly JsonValue[] => sortedRows([...rows.rows.values()].map((row) => printJson(row)));
    await eventually('the rows are there', () => Promise.resolve(printJson(seen()) === printJson(expected)));
    await feed.stop();
    expect(seen()).toEqual(expected);
  });
});
