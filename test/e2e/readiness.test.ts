import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { judge } from '../support/checks.ts';
import { eventually, type ProductProcess } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, privateKafka, privateRedis, redisUrl } from '../support/servers.ts';

/* What the probes of the chart hear of every role (docs/spec/readiness.md), and how long the end of a process takes. */

type Role = 'all' | 'ingest' | 'cdf' | 'maintenance';
type ProbePath = '/livez' | '/readyz' | '/startupz';
interface Probe {
  readonly path: ProbePath;
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

const chart = fileURLToPath(new URL('../../helm/tidewater', import.meta.url));
const nowhere = '127.0.0.1:1';
const roles: readonly Role[] = ['ingest', 'cdf', 'maintenance', 'all'];
/** Five seconds until the broker counts as silent, ten for the last commits, five to close its connections; and a slow machine. */
const silentDrainMs = 30_000;

/** The probes as the chart sends them. */
function chartProbes(): Readonly<Record<'startup' | 'liveness' | 'readiness', Probe>> {
  const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as { readonly probes: Record<string, Omit<Probe, 'path'>> };
  const template = readFileSync(join(chart, 'templates', 'deployment.yaml'), 'utf8');
  const probe = (name: string): Probe => {
    const path = new RegExp(`${name}Probe:\\s+httpGet: \\{ path: (/\\w+)`).exec(template)?.[1] as ProbePath | undefined;
    const timing = values.probes[name];
    if (path === undefined || timing === undefined) throw new Error(`the chart has no ${name} probe`);
    return { ...timing, path };
  };
  return { startup: probe('startup'), liveness: probe('liveness'), readiness: probe('readiness') };
}

describe('the probes of the chart', () => {
  const { dir, workload, serve } = productBench('readiness');
  const { startup, liveness, readiness } = chartProbes();
  const passes = (one: ProductProcess, { path, periodSeconds, failureThreshold }: Probe): Promise<boolean> =>
    eventually(`${path} passes`, async () => (await one.probe(path)).status === 200, periodSeconds * failureThreshold * 1_000);
  const detailOf = async (one: ProductProcess): Promise<string> => JSON.stringify((await one.probe('/readyz')).body);
  const ends = async (one: ProductProcess): Promise<number> => {
    const beganMs = Date.now();
    expect((await one.terminate()).code, one.log).toBe(0);
    return Date.now() - beganMs;
  };
  const bare = (name: string, { redis, enabled = true }: { readonly redis?: string; readonly enabled?: boolean } = {}): string => {
    const file = join(dir, `${name}.yaml`);
    const servers = `kafka: { brokers: [${kafkaBrokers().join(', ')}] }\nredis: { url: "${redis ?? redisUrl()}" }`;
    writeFileSync(
      file,
      `pipeline: ${name}\ndataDir: ${join(dir, name)}\n${servers}\nserver: { port: 0 }\nmaintenance: { enabled: ${enabled} }\nlogging: { format: json }\n`,
    );
    return file;
  };

  it.each(roles)('pass for the role %s at work', async (role) => {
    const pipeline = pipelineCase(dir, `at-work-${role}`);
    await workload.createTopic(pipeline);
    const one = serve(pipeline, { args: ['--role', role] });
    for (const probe of [startup, liveness, readiness]) await passes(one, probe);
    await ends(one);
  });

  it.each(roles)('pass for the role %s of a configuration that gives it nothing to do, and say so', async (role) => {
    const one = serve({ config: bare(`idle-${role}`, { enabled: false }) }, { args: ['--role', role] });
    for (const probe of [startup, liveness, readiness]) await passes(one, probe);
    expect(await detailOf(one)).toContain('has nothing to do');
    await ends(one);
  });

  it('let a process live whose broker is away, tell that it is not ready and why, and it ends soon when told to', async () => {
    const pipeline = pipelineCase(dir, 'no-broker', { brokers: [nowhere] });
    const all = (['ingest', 'cdf', 'all'] as const).map((role) =>
      serve(pipeline, { args: ['--role', role, '--set', 'server.notReadyAfter=1s'] }),
    );
    for (const one of all) {
      await passes(one, startup);
      await passes(one, liveness);
      await eventually('the silence is told', async () =>
        (await detailOf(one)).includes('"name":"kafka","state":"failed","detail":"failing for'),
      );
      expect((await one.probe('/readyz')).status).toBe(503);
    }
    for (const one of all) expect(await ends(one)).toBeLessThan(silentDrainMs);
  });

  it('hear of a broker that goes away while a process is at work; its end is short, says what is left, and loses nothing', async () => {
    await using kafka = await privateKafka();
    const brokers = kafka.server.brokers;
    const own = new Workload(brokers);
    await own.connect();
    try {
      const pipeline = pipelineCase(dir, 'broker-lost', { brokers });
      const produced = new Produced();
      await own.createTopic(pipeline);
      const one = serve(pipeline, { args: ['--set', 'server.notReadyAfter=1s'] });
      await own.produce(pipeline, produced, 200);
      await untilThrough(one, pipeline, produced);
      await own.produce(pipeline, produced, 2_000);
      await kafka.kill();
      await eventually(
        'the silence is told',
        async () => (await one.probe('/readyz')).status === 503 && (await detailOf(one)).includes('kafka'),
      );
      expect((await one.probe('/livez')).status).toBe(200);
      expect(await ends(one)).toBeLessThan(silentDrainMs);
      // A broker that died before it gave any of them out leaves nothing to end early.
      const early = one.said('drain ended early, nothing is lost');
      expect(early || one.said('"complete":true,"msg":"ingest drained"'), one.log).toBe(true);
      expect(one.said('the broker does not answer'), one.log).toBe(early);
      await kafka.start();
      const next = serve(pipeline);
      await untilThrough(next, pipeline, produced);
      expect((await next.probe('/readyz')).status).toBe(200);
      await ends(next);
      expect((await judge(own, pipeline, produced)).findings).toEqual([]);
    } finally {
      await own.close();
    }
  });

  it('hear of a Redis that is away where maintenance is all there is to do, and of its return; the end does not wait for it', async () => {
    await using redis = await privateRedis();
    const config = bare('redis-lost', { redis: redis.server.url });
    const one = serve({ config }, { args: ['--role', 'maintenance'] });
    await passes(one, readiness);
    await redis.stop();
    await eventually('the loss is told', async () => (await one.probe('/readyz')).status === 503);
    expect(await detailOf(one)).toContain('the connection to redis is closed');
    expect((await one.probe(startup.path)).status).toBe(200);
    await redis.start();
    await passes(one, readiness);
    await redis.stop();
    await eventually('the loss is told again', async () => (await one.probe('/readyz')).status === 503);
    expect(await ends(one)).toBeLessThan(silentDrainMs);

    const late = serve({ config }, { args: ['--role', 'maintenance'] });
    await passes(late, startup);
    expect((await late.probe('/readyz')).status).toBe(503);
    expect(await detailOf(late)).toContain('not connected to redis');
    expect(await ends(late)).toBeLessThan(silentDrainMs);
  });
});
