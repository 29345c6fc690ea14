import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* Records that change their table again and again, read by two processes of which one is killed: in the middle of commits, and of the changes themselves. */

type Row = Readonly<Record<string, unknown>>;

const generations = 8;
const perGeneration = 40;

/** Records of a round have a member more than those before, in the row and in a struct of it, up to the last generation; from the fourth on they have larger numbers. */
function recordsOf(round: number): readonly Row[] {
  const generation = Math.min(round, generations - 1);
  return Array.from({ length: perGeneration }, (_, index) => {
    const id = round * perGeneration + index;
    const members = Array.from({ length: generation + 1 }, (__, g): readonly [string, number] => [`m${g}`, id * 10 + g]);
    return { id, n: generation < 4 ? index : 5_000_000_000 + index, s: Object.fromEntries(members), ...Object.fromEntries(members) };
  });
}

describe('a table that its records change', () => {
  const { dir, workload, serve } = productBench('evolution');

  const caseOf = (label: string, iceberg: boolean) => {
    const name = `evolve-${label}-${randomUUID().slice(0, 8)}`;
    const home = join(dir, name);
    mkdirSync(home);
    const config = join(home, 'pipeline.yaml');
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${home}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
${iceberg ? `catalogs: [{ name: lake, type: jdbc, uri: "jdbc:sqlite:${join(home, 'lake.db')}", warehouse: ${join(home, 'lake')} }]` : ''}
tables:
  - name: events
    format: ${iceberg ? 'iceberg\n    catalog: lake\n    identifier: db.events' : 'delta'}
    evolve: { addColumns: true, widenTypes: true }
    columns:
      - { name: id, type: long, nullable: false }
      - { name: n, type: integer }
      - { name: _rescued, type: string, from: rescue }
ingest:
  maxBatchAge: 100ms
  maxBatchRows: 25
  sessionTimeout: 3s
  routes: [{ topics: [${name}.in], table: events }]
feeds: [{ table: events, topic: ${name}.changes, keyColumns: [id] }]
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    return { config, topic: `${name}.in`, changes: `${name}.changes` };
  };
  const rowCount = async (one: ProductProcess): Promise<number> => (await one.status()).tables[0]?.rowCount ?? 0;
  const rowsOf = async (config: string): Promise<readonly Row[]> => {
    const found = await runProduct({ config, args: ['rows', 'events'] });
    return found.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  };

  it.each(
    bothFormats.flatMap(([name, kind]) =>
      ['commit-applied:kill:3', 'before-commit:kill:4'].map((failpoint) => [name, failpoint, kind] as const),
    ),
  )(
    'P05: has every member of every record of %s once, though one of its processes is killed (%s)',
    async (_, failpoint, { label, iceberg }) => {
      const pipeline = caseOf(label, iceberg !== undefined);
      await workload.createTopic({ topic: pipeline.topic, partitions: 2 });
      const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      const steady = serve(pipeline);
      const killed = serve(pipeline, { env: { FAILPOINT: failpoint } });
      await eventually('both are in the group', async () => {
        const shares = await Promise.all(
          [steady, killed].map(async (one) => (await one.metrics()).sum('tidewater_ingest_partitions_assigned')),
        );
        return shares.every((share) => share === 1);
      });
      const expected: Row[] = [];
      // A process that lost its partition for a while commits late: there are records until it has met its end.
      for (let round = 0; round < generations || (killed.exit === undefined && round < 200); round++) {
        const records = recordsOf(round);
        const messages = records.map((row, index) => ({ value: JSON.stringify(row), partition: index % 2 }));
        await producer.send({ topic: pipeline.topic, messages });
        expected.push(...records);
        await sleep(400);
      }
      await producer.disconnect();
      await eventually('one is killed', () => killed.exit !== undefined);
      const third = serve(pipeline);
      await eventually('all rows are there', async () => (await rowCount(steady)) === expected.length, 120_000);
      const read = (await rowsOf(pipeline.config)).toSorted((a, b) => Number(a['id']) - Number(b['id']));
      expect(read.map(withoutNulls)).toEqual(expected.map(withoutNulls));
      const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
      expect(JSON.parse(audit.stdout), audit.stdout).toMatchObject({ rows: expected.length, sound: true });
      // The feed goes on over all changes of the table.
      await eventually('all changes are published', async () => {
        const published = await Promise.all([steady, third].map(async (one) => (await one.metrics()).sum('tidewater_cdf_records_total')));
        return published.some((count) => count > 0) && (await lagOf(steady, third)) === 0;
      });
      for (const one of [steady, third]) expect((await one.terminate()).code, one.log).toBe(0);
    },
  );
});

async function lagOf(...processes: readonly ProductProcess[]): Promise<number> {
  const lags = await Promise.all(processes.map(async (one) => (await one.metrics()).sum('tidewater_cdf_lag_versions')));
  return lags.reduce((sum, lag) => sum + lag, 0);
}

/** The row as its record had it, as text. */
function withoutNulls(row: Row): string {
  const inOrder = (value: unknown): unknown =>
    typeof value !== 'object' || value === null
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .filter(([, member]) => member !== null && member !== undefined)
            .map(([name, member]): [string, unknown] => [name, inOrder(member)])
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        );
  return JSON.stringify(inOrder(row));
}
