import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../src/app/embedded/free-port.ts';
import { serverMark } from '../../../../src/app/embedded/managed-server.ts';
import { processBirth, runsWith } from '../../../../src/app/embedded/process-identity.ts';
import { readServerRecord, writeServerRecord } from '../../../../src/app/embedded/server-record.ts';
import { withStartLock } from '../../../../src/app/embedded/start-lock.ts';
import { removeDirectory, temporaryDirectory } from '../../../support/servers.ts';

let dir: string;
beforeEach(() => {
  dir = temporaryDirectory('state');
});
afterEach(() => {
  removeDirectory(dir);
});

describe('a process', () => {
  it('is known by its command line and its birth, not by its id', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)', 'some-mark']);
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    await expect.poll(() => runsWith(pid, 'some-mark')).toBe(true);
    expect(runsWith(pid, 'another-mark')).toBe(false);
    expect(processBirth(pid)).toMatch(/./);
    expect(processBirth(pid)).toBe(processBirth(pid));
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    expect([runsWith(pid, 'some-mark'), processBirth(pid)]).toEqual([false, undefined]);
  });

  it('of another directory has another mark', () => {
    expect(serverMark('/a/kafka')).toBe(serverMark('/a/b/../kafka'));
    expect(serverMark('/a/kafka')).not.toBe(serverMark('/a/redis'));
  });
});

describe('the record of a server', () => {
  it('is read as it was written', () => {
    const record = { pid: 7, ports: [1, 2], ownerPid: 8, ownerBirth: '9' };
    writeServerRecord(dir, record);
    expect(readServerRecord(dir)).toEqual(record);
  });

  it.each(['', '{', '[]', '{"pid":"7"}'])('that says %j is no record', (text) => {
    writeFileSync(join(dir, 'server.json'), text);
    expect(readServerRecord(dir)).toBeUndefined();
  });
});

describe('the start lock', () => {
  it('lets one in at a time', async () => {
    const events: string[] = [];
    const enter = async (name: string): Promise<void> => {
      await withStartLock(dir, undefined, async () => {
        events.push(`${name} in`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        events.push(`${name} out`);
      });
    };
    await Promise.all([enter('a'), enter('b')]);
    expect(events).toEqual(['a in', 'a out', 'b in', 'b out']);
    expect(existsSync(join(dir, 'start.lock'))).toBe(false);
  });

  it('of a process that is gone is taken over', async () => {
    writeFileSync(join(dir, 'start.lock'), '999999999 123');
    expect(await withStartLock(dir, undefined, () => Promise.resolve('in'))).toBe('in');
  });

  it('is waited for no longer than the caller wants', async () => {
    writeFileSync(join(dir, 'start.lock'), `${process.pid} ${processBirth(process.pid) ?? ''}`);
    await expect(withStartLock(dir, AbortSignal.timeout(150), () => Promise.resolve())).rejects.toMatchObject({ kind: 'aborted' });
  });
});

describe('freePort', () => {
  it('is the preferred one unless that is occupied or taken', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const address = blocker.address();
    const occupied = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await freePort(occupied)).not.toBe(occupied);
    blocker.close();
    await once(blocker, 'close');
    expect(await freePort(occupied)).toBe(occupied);
    expect(await freePort(occupied, [occupied])).not.toBe(occupied);
  });
});
