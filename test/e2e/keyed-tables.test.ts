import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSession } from '../../src/index.ts';
import { consume, foldFeed } from '../support/checks-feed.ts';
import { rowText } from '../support/checks-table.ts';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { productBench, type TableKind } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/*
 * Change events of few keys through a real broker into a keyed table, beside those of another table in the same topic, whose processes are killed one
 * after the other where deletes are remembered, where the rows of keys have been looked up, marked and committed, while maintenance compacts as often as it can. Some events come again when others have followed them. The Delta table was there before,
 * with several rows of keys. The table, and the fold of its feed, equal the fold of the topic by the order of its events, which a map in this file makes.
 */

const partitions = 3;
const keys = 40;
const partSize = 60;
const deadlineMs = 120_000;

const delta: TableKind = { label: 'delta' };
const iceberg: TableKind = { label: 'iceberg', iceberg: { kind: 'files' } };

const unavailable = '__debezium_unavailable_value';

/** Every so many events is one of the other table, and every so many comes a second time. */
const ofOthers = 10;
const again = 6;

interface Sent {
  readonly partition: number;
  readonly key: string;
  readonly value: string;
}

interface AccountEvent extends Sent {
  readonly id: number;
  readonly n: number;
  /** `undefined`: it deletes. */
  readonly color: string | undefined;
}

/** What was sent to the topic, and what a reader of it has in the end. */
class Events {
  readonly rows = new Map<number, Readonly<Record<string, unknown>>>();
  others = 0;
  readonly ends = new Map<number, number>();
  /** Of each key the order of its latest event, one that deleted it too. */
  readonly #orders = new Map<number, number>();
  readonly #sent: AccountEvent[] = [];
  #number = 0;

  next(): Sent {
    this.#number += 1;
    const id = (this.#number * 7) % keys;
    const partition = id % partitions;
    if (this.#number % ofOthers === 1) {
      this.#end(partition);
      this.others += 1;
      const other = { op: 'c', before: null, after: { id, kind: 'other', n: this.#number }, source: { table: 'others' }, ts_ms: 1 };
      return { partition, key: JSON.stringify({ id }), value: JSON.stringify(other) };
    }
    // Mostly one that others have followed, and some that were deleted since.
    const earlier = this.#number % again === 0 ? this.#sent[(this.#number * 13) % this.#sent.length] : undefined;
    const event = earlier ?? this.#event(id, partition);
    if (earlier === undefined) this.#sent.push(event);
    this.#end(event.partition);
    this.#fold(event);
    return { partition: event.partition, key: event.key, value: event.value };
  }

  #event(id: number, partition: number): AccountEvent {
    const n = this.#number;
    // Of some events the color is a large value that did not change; some delete.
    const color = n % 5 === 0 ? undefined : n % 4 === 0 ? unavailable : n % 3 === 0 ? 'blue' : 'red';
    const after = color === undefined ? null : { id, kind: color, n };
    const before = color === undefined ? { id, kind: null, n: null } : null;
    const value = { op: color === undefined ? 'd' : 'u', before, after, source: { table: 'accounts', lsn: n }, ts_ms: 1 };
    return { partition, key: JSON.stringify({ id }), value: JSON.stringify(value), id, n, color };
  }

  #fold({ id, n, color }: AccountEvent): void {
    if (n < (this.#orders.get(id) ?? 0)) return;
    this.#orders.set(id, n);
    if (color === undefined) this.rows.delete(id);
    else this.rows.set(id, { id, kind: color === unavailable ? (this.rows.get(id)?.['kind'] ?? null) : color, n, lsn: n });
  }

  #end(partition: number): void {
    this.ends.set(partition, (this.ends.get(partition) ?? 0) + 1);
  }
}

describe('keyed tables', () => {
  const { dir, workload, serve } = productBench('keyed');

  const caseOf = ({ label, iceberg: place }: TableKind) => {
    const name = `keyed-${label}-${randomUUID().slice(0, 8)}`;
    mkdirSync(join(dir, name));
    const config = join(dir, name, 'pipeline.yaml');
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
tables:
  - name: accounts
    format: ${place === undefined ? 'delta' : 'iceberg'}
    mode: upsert
    keyColumns: [id]
    orderBy: [lsn]
    tombstoneRetention: 1d
    onRepeatedKeys: keep-last
    partitionBy: [kind]
    columns:
      - { name: id, type: long, nullable: false }
      - { name: kind, type: string }
      - { name: n, type: integer }
      - { name: lsn, type: long, nullable: false, member: __lsn }
  - name: others
    columns:
      - { name: id, type: long }
      - { name: n, type: integer }
ingest:
  maxBatchAge: 150ms
  maxBatchRows: 50
  sessionTimeout: 3s
  routes:
    - topics: [${name}.in]
      value: { envelope: debezium }
      divide:
        member: __table
        tables: [{ table: accounts, values: [accounts] }, { table: others, values: [others] }]
  deadLetters: { topic: ${name}.dlq }
feeds: [{ table: accounts, topic: ${name}.out, keyColumns: [id], pollInterval: 50ms }]
feedDefaults: { positionsTopic: ${name}.positions }
commit: { keyIndex: { minRows: 1 } }
maintenance: { sweepInterval: 300ms, compaction: { minInputFiles: 3, maxDeletedPercent: 1, targetFileSize: 1MiB }, engine: { threads: 1 } }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    return {
      config,
      path: join(dir, name, 'tables', 'accounts'),
      index: join(dir, name, 'key-index'),
      topic: `${name}.in`,
      feedTopic: `${name}.out`,
    };
  };

  const produce = async (topic: string, events: Events, count: number): Promise<void> => {
    const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    await producer.send({ topic, messages: Array.from({ length: count }, () => events.next()) });
    await producer.disconnect();
  };

  const untilThrough = (one: ProductProcess, events: Events): Promise<unknown> =>
    eventually(
      'everything is in the table and in the feed',
      async () => {
        if (one.exit !== undefined) throw new Error(one.log);
        const { tables, feeds } = await one.status();
        const table = tables.find(({ name }) => name === 'accounts');
        const through = [...events.ends].every(([partition, end]) =>
          table?.partitions.some((entry) => entry.partition === partition && entry.committedOffset === end),
        );
        return through && feeds.every(({ lagVersions, publishedVersion }) => lagVersions === 0 && publishedVersion === table?.version);
      },
      deadlineMs,
    );

  /** What another program left: two rows of each of some keys that no event has. */
  const fillBefore = async (path: string, events: Events): Promise<void> => {
    const session = createSession({ config: { 'spark.sql.warehouse.dir': join(dir, 'warehouse'), 'tidewater.engine.threads': 1 } });
    const properties = `'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true'`;
    const columns = 'id BIGINT NOT NULL, kind STRING, n INT, lsn BIGINT NOT NULL';
    await session.sql(`CREATE TABLE delta.\`${path}\` (${columns}) USING delta PARTITIONED BY (kind) TBLPROPERTIES (${properties})`);
    for (const n of [1, 2]) await session.sql(`INSERT INTO delta.\`${path}\` VALUES (1000, 'red', ${n}, 0), (1001, 'blue', ${n}, 0)`);
    await session.stop();
    for (const [id, color] of [
      [1000, 'red'],
      [1001, 'blue'],
    ] as const)
      events.rows.set(id, { id, kind: color, n: 2, lsn: 0 });
  };

  const seeKilled = async (kind: TableKind, points: readonly string[]): Promise<void> => {
    const pipeline = caseOf(kind);
    const events = new Events();
    await workload.createTopic({ topic: pipeline.topic, partitions });
    const isThere = kind.iceberg === undefined;
    if (isThere) {
      await fillBefore(pipeline.path, events);
      // No feed before the take-over: it would have two rows under one key.
      const taking = serve(pipeline, { args: ['--role', 'ingest'] });
      const isTaken = (): boolean => taking.said('rows of keys that others had too were deleted');
      await eventually('the table is taken over', () => Promise.resolve(isTaken()), deadlineMs);
      await taking.terminate();
    }
    for (const point of points) {
      const killed = serve(pipeline, { env: { FAILPOINT: `${point}:kill:3` } });
      const until = Date.now() + deadlineMs;
      while (killed.exit === undefined && Date.now() < until) {
        await produce(pipeline.topic, events, partSize);
        await sleep(100);
      }
      expect(killed.said(`failpoint ${point}: kill`), killed.log).toBe(true);
    }
    const indexed = readdirSync(pipeline.index, { recursive: true, encoding: 'utf8' });
    expect(indexed.some((name) => name.endsWith('.run'))).toBe(true);
    // A cache: it is made again.
    rmSync(pipeline.index, { recursive: true });
    const last = serve(pipeline);
    await produce(pipeline.topic, events, 2 * partSize);
    await eventually('files were compacted', () => Promise.resolve(hasCompacted(last)), deadlineMs);
    await untilThrough(last, events);
    const others = (await last.status()).tables.find(({ name }) => name === 'others');
    expect(others?.rowCount).toBe(events.others);
    expect((await last.terminate()).code, last.log).toBe(0);
    const found = await runProduct({ config: pipeline.config, args: ['rows', 'accounts'] });
    const rows = linesOf(found.stdout).map(({ id, kind: color, n, lsn }) => JSON.stringify({ id, kind: color, n, lsn }));
    const wanted = [...events.rows.values()];
    expect(rows.toSorted()).toEqual(wanted.map((row) => JSON.stringify(row)).toSorted());
    const received = await consume(workload.kafka, [pipeline.feedTopic], (some) => foldFeed(some).rows.length === wanted.length);
    const folded = foldFeed(received);
    expect(folded.rows).toEqual(wanted.map((row) => rowText(row)).toSorted());
    // An update has the ordinals of both its images.
    expect(folded.findings.filter((finding) => !finding.includes('changes, the last is'))).toEqual([]);
    const remembered = (await runProduct({ config: pipeline.config, args: ['rows', 'accounts__deletes'] })).stdout;
    expect(
      linesOf(remembered).some(({ id, lsn }) => Number(id) < keys && Number(lsn) > 0),
      remembered,
    ).toBe(true);
    const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
    expect(linesOf(audit.stdout), audit.stdout).toMatchObject([
      // What others wrote before, and that some of it was deleted, is told as changes of others.
      { deadLettered: 0, sound: !isThere },
      { deadLettered: 0, sound: true },
    ]);
  };

  it('P04: killed before and after commits, lose no change, make none twice and bring no deleted key back, in both formats', async () => {
    // Side by side: most of the time goes by in waiting for the group to notice.
    await Promise.all([
      seeKilled(delta, ['before-tombstones', 'within-key-index', 'after-key-marks']),
      seeKilled(iceberg, ['after-tombstones', 'after-key-marks', 'commit-applied']),
    ]);
  });
});

function hasCompacted({ log }: ProductProcess): boolean {
  return log.split('\n').some((line) => ['"job finished"', '"compact"', '"done"'].every((part) => line.includes(part)));
}

function linesOf(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}
