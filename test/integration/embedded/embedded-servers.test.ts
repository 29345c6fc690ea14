import { execFileSync, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { SASLOptions } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedKafka } from '../../../src/app/embedded/kafka-server.ts';
import { serverMark } from '../../../src/app/embedded/managed-server.ts';
import { kafkaReady, redisReady } from '../../../src/app/embedded/probe.ts';
import { processBirth, runsWith } from '../../../src/app/embedded/process-identity.ts';
import { startEmbeddedRedis } from '../../../src/app/embedded/redis-server.ts';
import { startSecuredKafka } from '../../support/secured-kafka.ts';
import { privateKafka, privateRedis, removeDirectory, temporaryDirectory } from '../../support/servers.ts';
import { testKafka } from '../../support/test-kafka.ts';

describe('embedded redis', () => {
  it('answers on a loopback port and keeps its data over a kill and a restart', async () => {
    await using redis = await privateRedis();
    expect(await send(redis.server.port, 'SET kept yes')).toBe('+OK');
    await settle(1_500); // the append-only file is synced every second
    await redis.kill();
    expect(await redisReady(redis.server.port)).toBe(false);
    await redis.start();
    expect(await send(redis.server.port, 'GET kept')).toBe('$3 yes');
  });

  it('is shared by a second start in the same directory, which does not stop it', async () => {
    const dir = temporaryDirectory('shared');
    const first = await startEmbeddedRedis({ dir });
    try {
      const second = await startEmbeddedRedis({ dir });
      expect([second.origin, second.pid, second.url]).toEqual(['shared', first.pid, first.url]);
      await second.stop();
      expect(await redisReady(first.port)).toBe(true);
    } finally {
      await first.stop();
      removeDirectory(dir);
    }
    expect(await redisReady(first.port)).toBe(false);
  });

  it('takes the old port again, and another one when that is occupied', async () => {
    const dir = temporaryDirectory('ports');
    const first = await startEmbeddedRedis({ dir });
    await first.stop();
    const second = await startEmbeddedRedis({ dir });
    await second.stop();
    expect(second.port).toBe(first.port);
    const blocker = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${first.port}, '127.0.0.1', () => console.log('up'))`,
    ]);
    try {
      await new Promise((settled) => blocker.stdout.once('data', settled));
      const third = await startEmbeddedRedis({ dir });
      expect(third.port).not.toBe(first.port);
      await third.stop();
    } finally {
      blocker.kill();
      removeDirectory(dir);
    }
  });

  it('is adopted by the next start when its owner was killed, and two starts at once make one server', async () => {
    const dir = temporaryDirectory('adopted');
    const orphan = await orphanedRedis(dir, 60_000);
    const [one, other] = await Promise.all([startEmbeddedRedis({ dir }), startEmbeddedRedis({ dir })]);
    expect([one.pid, other.pid]).toEqual([orphan, orphan]);
    expect([one.origin, other.origin].sort()).toEqual(['adopted', 'shared']);
    await one.stop();
    await other.stop();
    expect(runsWith(orphan, serverMark(dir))).toBe(false);
    removeDirectory(dir);
  });

  it('ends by itself when its owner was killed and nobody adopts it', async () => {
    const dir = temporaryDirectory('orphan');
    const orphan = await orphanedRedis(dir, 1_000);
    await expect.poll(() => runsWith(orphan, serverMark(dir)), { timeout: 15_000, interval: 200 }).toBe(false);
    removeDirectory(dir);
  });

  it('shows the end of its log when it cannot start', async () => {
    const dir = temporaryDirectory('broken');
    const previous = process.env['REDIS_SERVER'];
    process.env['REDIS_SERVER'] = '/bin/false';
    try {
      await expect(startEmbeddedRedis({ dir })).rejects.toMatchObject({ code: 'EMBEDDED_SERVER_FAILED', kind: 'unavailable' });
    } finally {
      if (previous === undefined) delete process.env['REDIS_SERVER'];
      else process.env['REDIS_SERVER'] = previous;
      removeDirectory(dir);
    }
  });
});

describe('embedded kafka', () => {
  it('is ready when it says so, survives SIGKILL with its storage, and stops when asked', async () => {
    await using kafka = await privateKafka();
    expect(await kafkaReady(kafka.server.port)).toBe(true);
    await kafka.kill();
    expect(await kafkaReady(kafka.server.port)).toBe(false);
    await kafka.start();
    expect(kafka.server.origin).toBe('started');
    expect(await kafkaReady(kafka.server.port)).toBe(true);
    const { pid, port } = kafka.server;
    await kafka.stop();
    expect(await kafkaReady(port)).toBe(false);
    expect(processBirth(pid)).toBeUndefined();
  });

  it('gives up when cancelled, leaving no process', async () => {
    const dir = temporaryDirectory('cancelled');
    const cancel = new AbortController();
    const starting = startEmbeddedKafka({
      dir,
      signal: cancel.signal,
      log: (message) => {
        if (message.startsWith('starting')) cancel.abort();
      },
    });
    await expect(starting).rejects.toMatchObject({ kind: 'aborted' });
    expect(execFileSync('ps', ['axww', '-o', 'command='], { encoding: 'utf8' })).not.toContain(serverMark(dir));
    removeDirectory(dir);
  });
});

describe('secured kafka', () => {
  let secured: Awaited<ReturnType<typeof startSecuredKafka>>;
  beforeAll(async () => {
    secured = await startSecuredKafka();
  });
  afterAll(async () => {
    await secured[Symbol.asyncDispose]();
  });

  it.each([
    ['scram-sha-256', 'alice', 'alice-secret', 'in'],
    ['scram-sha-512', 'admin', 'admin-secret', 'in'],
    ['plain', 'alice', 'alice-secret', 'in'],
    ['scram-sha-256', 'bob', 'wrong', 'KafkaJSSASLAuthenticationError'],
  ] as const)('with %s lets %s with password "%s": %s', async (mechanism, username, password, expected) => {
    // What the broker refuses is not tried again, however many tries there are.
    const admin = testKafka({
      brokers: secured.securedBrokers,
      ssl: { ca: [secured.ca] },
      sasl: { mechanism, username, password } as SASLOptions,
    }).admin();
    const outcome = await admin.connect().then(
      () => 'in',
      (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
    );
    await admin.disconnect();
    expect(outcome).toBe(expected);
  });
});

/** A redis-server whose owner, a process of its own, was killed. */
async function orphanedRedis(dir: string, orphanGraceMs: number): Promise<number> {
  const owner = spawn(
    process.execPath,
    ['--import', './test/support/run-typescript.mjs', 'test/support/redis-owner.ts', dir, String(orphanGraceMs)],
    { cwd: resolve(import.meta.dirname, '..', '..', '..'), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const pid = Number(String(await new Promise((settled) => owner.stdout.once('data', settled))));
  const gone = new Promise((settled) => owner.once('exit', settled));
  owner.kill('SIGKILL');
  await gone;
  expect(runsWith(pid, serverMark(dir))).toBe(true);
  return pid;
}

async function send(port: number, command: string): Promise<string> {
  const { connect } = await import('node:net');
  return await new Promise((settled, fail) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(`${command}\r\n`));
    socket.once('error', fail);
    socket.once('data', (answer) => {
      socket.destroy();
      settled(answer.toString().trim().replace('\r\n', ' '));
    });
  });
}

async function settle(durationMs: number): Promise<void> {
  await new Promise((settled) => setTimeout(settled, durationMs));
}
