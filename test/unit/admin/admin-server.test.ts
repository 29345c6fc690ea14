import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type AdminPorts, type AdminServer, type AdminSettings, createAdminServer } from '../../../src/admin/admin-server.ts';
import type { PipelineStatus } from '../../../src/admin/status.ts';
import { toEpochMs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import type { HealthReport } from '../../../src/observability/health.ts';
import { silentLogger } from '../../../src/observability/logger.ts';

const settings: AdminSettings = {
  host: '127.0.0.1',
  port: 0,
  allowRemote: false,
  maxEventLoopDelayMs: 1_000,
  requestTimeoutMs: 200,
  allowedHosts: [],
};

const healthy: HealthReport = {
  ready: true,
  started: true,
  draining: false,
  components: [{ name: 'maintenance', state: 'degraded', detail: 'redis is away', since: toEpochMs(0), requiredForReadiness: false }],
};

const status: PipelineStatus = {
  pipeline: 'demo',
  role: 'all',
  version: '1',
  startedAt: '2026-01-01T00:00:00Z',
  tables: [
    {
      name: 'flights',
      format: 'delta',
      location: '/t',
      version: 3,
      rowCount: 10,
      fileCount: 1,
      sizeBytes: 5,
      ingest: 'running',
      detail: undefined,
      drifts: [],
      partitions: [{ topic: 'f', partition: 0, committedOffset: 9007199254740993n, endOffset: 9007199254740995n, problem: undefined }],
    },
  ],
  feeds: [],
  twins: [{ table: 'lake', leader: 'flights', state: 'following', detail: undefined, shownVersion: 3, lagVersions: 0 }],
  queues: [{ name: 'compact', connected: true, jobs: { waiting: 1 } }],
};

const running: AdminServer[] = [];

function portsOf(changed: Partial<AdminPorts>): AdminPorts {
  return {
    health: () => healthy,
    status: () => Promise.resolve(status),
    freshness: () => Promise.resolve({ topic: 'f', partition: 0, offset: 7n, endOffset: 9n, tables: [] }),
    metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', exposition: () => Promise.resolve('tidewater_x 1\n') },
    eventLoopDelayMs: () => 5,
    clock: new SystemClock(),
    logger: silentLogger,
    ...changed,
  };
}

async function start(ports: Partial<AdminPorts> = {}): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const server = createAdminServer(settings, portsOf(ports));
  running.push(server);
  const { url } = await server.start();
  return (path, init) => fetch(`${url}${path}`, init);
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

describe('probes', () => {
  it('a healthy process answers 200, with detail about what is degraded', async () => {
    const get = await start();
    for (const path of ['/livez', '/readyz', '/startupz']) expect((await get(path)).status).toBe(200);
    expect(await (await get('/readyz')).json()).toEqual({
      status: 'ready',
      components: [
        { name: 'maintenance', state: 'degraded', detail: 'redis is away', since: '1970-01-01T00:00:00.000Z', requiredForReadiness: false },
      ],
    });
  });

  it('liveness depends on the event loop and on nothing else', async () => {
    const get = await start({ health: () => ({ ...healthy, ready: false, started: false }), eventLoopDelayMs: () => 999 });
    expect((await get('/livez')).status).toBe(200);
    const hung = await start({ eventLoopDelayMs: () => 1_001 });
    expect((await hung('/livez')).status).toBe(503);
  });

  it('a process that is starting, draining or broken answers 503', async () => {
    const starting = await start({ health: () => ({ ...healthy, ready: false, started: false }) });
    expect([(await starting('/readyz')).status, (await starting('/startupz')).status]).toEqual([503, 503]);
    const draining = await start({ health: () => ({ ...healthy, ready: false, draining: true }) });
    expect(await (await draining('/readyz')).json()).toEqual({
      status: 'draining',
      components: [
        { name: 'maintenance', state: 'degraded', detail: 'redis is away', requiredForReadiness: false, since: '1970-01-01T00:00:00.000Z' },
      ],
    });
  });
});

describe('reports', () => {
  it('/metrics is the exposition with its content type', async () => {
    const response = await (await start())('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toBe('tidewater_x 1\n');
  });

  it('/status shows offsets with all their digits and the lag', async () => {
    const text = await (await (await start())('/status')).text();
    expect(text).toContain('"committedOffset":9007199254740993,"endOffset":9007199254740995,"lag":2');
    expect(JSON.parse(text)).toMatchObject({
      pipeline: 'demo',
      tables: [{ name: 'flights', version: 3 }],
      queues: [{ name: 'compact', jobs: { waiting: 1 } }],
    });
  });

  it('/ lists what there is', async () => {
    expect(await (await (await start())('/')).json()).toEqual({
      name: 'tidewater',
      links: ['/livez', '/readyz', '/startupz', '/metrics', '/status', '/v1/freshness'],
    });
  });
});

describe('errors', () => {
  it('are problem documents with code and hint', async () => {
    const failed = () =>
      Promise.reject(new ServiceError({ code: 'KAFKA_UNAVAILABLE', kind: 'unavailable', message: 'no broker', hint: 'wait' }));
    const response = await (await start({ status: failed }))('/status');
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await response.json()).toEqual({
      type: 'about:blank',
      status: 503,
      title: 'unavailable',
      code: 'KAFKA_UNAVAILABLE',
      detail: 'no broker',
      hint: 'wait',
    });
  });

  it('show nothing of an error that is not ours', async () => {
    const response = await (await start({ status: () => Promise.reject(new TypeError('secret detail')) }))('/status');
    expect([response.status, await response.text()]).toEqual([
      500,
      '{"type":"about:blank","status":500,"title":"internal","code":"INTERNAL"}',
    ]);
  });

  it('a report that takes too long is given up and its work told so', async () => {
    let told = false;
    const slow = (signal: AbortSignal): Promise<PipelineStatus> => {
      signal.addEventListener('abort', () => {
        told = true;
      });
      return new Promise(() => undefined);
    };
    const response = await (await start({ status: slow }))('/status');
    expect([response.status, told]).toEqual([503, true]);
    expect(await response.json()).toEqual({
      type: 'about:blank',
      status: 503,
      title: 'unavailable',
      code: 'ADMIN_TIMEOUT',
      detail: 'no answer within 200 ms',
    });
  });

  it('an unknown page is 404, another method too', async () => {
    const get = await start();
    expect((await get('/none')).status).toBe(404);
    expect((await get('/status', { method: 'DELETE' })).status).toBe(404);
    expect(await (await get('/none')).json()).toEqual({
      type: 'about:blank',
      status: 404,
      title: 'not-found',
      code: 'PAGE_NOT_FOUND',
      detail: 'nothing answers GET here',
    });
  });
});

describe('a hostile client', () => {
  async function connected(text: string): Promise<{ readonly socket: Socket; readonly answer: () => string }> {
    const { port } = new URL((await (await start())('/')).url);
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.on('data', (data: Buffer) => (answer += data.toString()));
    socket.on('error', () => undefined);
    socket.write(text);
    return { socket, answer: () => answer };
  }

  it('that sends the body of its request byte by byte is cut off', async () => {
    const { socket } = await connected('POST /status HTTP/1.1\r\nHost: localhost\r\ncontent-length: 1000\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), 50);
    await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    clearInterval(drip);
  });

  it('gets a problem document for an address that cannot be decoded', async () => {
    const { socket, answer } = await connected('GET /%E0%A4%A HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(answer()).toContain('HTTP/1.1 400');
    expect(answer()).toContain('application/problem+json');
    expect(answer()).not.toContain('%E0');
  });

  it('cannot take all the files that the process may have open', async () => {
    const { socket } = await connected('');
    const { remotePort, remoteAddress } = await once(socket, 'connect').then(() => socket);
    const sockets = Array.from({ length: 300 }, () => connect(remotePort ?? 0, remoteAddress).on('error', () => undefined));
    const dropped = await Promise.all(
      sockets.map((each) =>
        Promise.race([once(each, 'close').then(() => 1), new Promise<number>((resolve) => setTimeout(resolve, 1000, 0))]),
      ),
    );
    expect(dropped.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(300 - 256);
    for (const each of [socket, ...sockets]) each.destroy();
  });
});

describe('freshness', () => {
  const asked: unknown[] = [];
  const freshness: AdminPorts['freshness'] = (request) => {
    asked.push(request);
    const letter = { topic: 'dlq', partition: 0, offset: 9007199254740993n, reason: 'wrong-type', rejectedAt: undefined };
    const tables = [{ table: 'a', state: 'dead-letter', version: 3, letter, detail: 'it did not fit' } as const];
    return Promise.resolve({ topic: 'f', partition: 1, offset: 9007199254740993n, endOffset: undefined, tables });
  };

  it('is asked for one place of a topic and answers with every table', async () => {
    const get = await start({ freshness });
    const response = await get('/v1/freshness?topic=f&partition=1&offset=9007199254740993&table=a');
    expect(response.status).toBe(200);
    expect(asked).toEqual([{ topic: 'f', partition: 1, offset: 9007199254740993n, table: 'a' }]);
    expect(await response.text()).toBe(
      '{"topic":"f","partition":1,"offset":9007199254740993,"endOffset":null,"tables":[{"table":"a","state":"dead-letter","version":3,"since":null,"nextOffset":null,"behind":null,"letter":{"topic":"dlq","partition":0,"offset":9007199254740993,"reason":"wrong-type","rejectedAt":null},"commit":null,"detail":"it did not fit"}]}',
    );
  });

  it.each([
    ['', '"topic" is missing'],
    ['?topic=f&partition=x&offset=1', '"partition" must be a whole number, not "x"'],
    ['?topic=f&partition=1', '"offset" must be a whole number, not ""'],
    ['?topic=f&partition=1&offset=-1', '"offset" must be a whole number, not "-1"'],
    ['?topic=f&partition=1&offset=1&offset=2', '"offset" is given more than once'],
    ['?topic=f&partition=1&offset=1&wait=true', '"wait" is no parameter'],
  ])('is refused with %s', async (query, why) => {
    const get = await start({ freshness });
    const response = await get(`/v1/freshness${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'ADMIN_QUERY_INVALID', detail: `the query cannot be answered: ${why}` });
  });
});

describe('the address', () => {
  const create = (host: string, allowRemote: boolean) => () =>
    createAdminServer(
      { ...settings, host, allowRemote },
      {
        health: () => healthy,
        status: () => Promise.resolve(status),
        freshness: () => Promise.reject(new Error('not asked')),
        metrics: { contentType: '', exposition: () => Promise.resolve('') },
        eventLoopDelayMs: () => 0,
        clock: new SystemClock(),
        logger: silentLogger,
      },
    );

  it.each(['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.example.org'])('%s is refused unless allowed', (host) => {
    expect(create(host, false)).toThrow(expect.objectContaining({ code: 'ADMIN_REMOTE_REFUSED' }));
    expect(create(host, true)).not.toThrow();
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('%s is always allowed', (host) => {
    expect(create(host, false)).not.toThrow();
  });

  it('a port that is taken is an error that says so', async () => {
    const get = await start();
    const port = Number(new URL((await get('/')).url).port);
    const second = createAdminServer(
      { ...settings, port },
      {
        health: () => healthy,
        status: () => Promise.resolve(status),
        freshness: () => Promise.reject(new Error('not asked')),
        metrics: { contentType: '', exposition: () => Promise.resolve('') },
        eventLoopDelayMs: () => 0,
        clock: new SystemClock(),
        logger: silentLogger,
      },
    );
    running.push(second);
    await expect(second.start()).rejects.toMatchObject({ code: 'ADMIN_PORT_UNAVAILABLE' });
  });
});

it('no page shows a secret of an address or of a setting', async () => {
  const canary = 'canary-hunter2';
  const uri = `https://u:${canary}@host/x?token=${canary}`;
  const detail = `no answer from ${uri}`;
  const component = { name: 'ingest', state: 'starting', detail, since: toEpochMs(0), requiredForReadiness: true } as const;
  const [table] = status.tables;
  const failed = () => Promise.reject(new ServiceError({ code: 'A', kind: 'unavailable', message: detail, hint: detail }));
  const feed = {
    name: 'cdf.orders',
    table: 't',
    topic: 'c',
    state: 'failed',
    detail,
    publishedVersion: 1,
    ordinal: 0,
    lagVersions: 0,
  };
  const tables = table === undefined ? [] : [{ ...table, location: uri, detail, drifts: [detail] }];
  const shown = {
    health: () => ({ ...healthy, components: [component] }),
    status: () => Promise.resolve({ ...status, tables, feeds: [feed] }),
  };
  for (const ports of [shown, { ...shown, status: failed }]) {
    const get = await start(ports);
    for (const path of ['/', '/livez', '/readyz', '/startupz', '/metrics', '/status', `/none?token=${canary}`])
      expect(await (await get(path)).text()).not.toContain(canary);
  }
});

describe('a request for a host that the server is not known as', () => {
  const statusFor = async (host: string, changed: Partial<AdminSettings> = {}): Promise<readonly [number | undefined, string]> => {
    const server = createAdminServer({ ...settings, ...changed }, portsOf({}));
    running.push(server);
    const { port } = await server.start();
    return new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/status', headers: { host } }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += String(chunk);
        });
        response.on('end', () => {
          resolve([response.statusCode, text]);
        });
      }).on('error', reject);
    });
  };

  it.each([
    'attacker.example',
    'attacker.example:9464',
    '127.0.0.1.attacker.example',
    'localhost.attacker.example',
    '[::1].attacker.example',
  ])('is refused with the cure when only this host can connect: %s', async (host) => {
    const [code, text] = await statusFor(host);
    expect(code).toBe(421);
    expect(JSON.parse(text)).toMatchObject({ code: 'ADMIN_HOST_REFUSED', hint: expect.stringContaining('server.allowedHosts') as unknown });
  });

  it.each(['localhost', 'LOCALHOST:9464', 'localhost.', '127.0.0.1:9464', '[::1]:9464', '10.1.2.3:9464'])(
    'an address or a loopback name is none: %s',
    async (host) => {
      expect((await statusFor(host))[0]).toBe(200);
    },
  );

  it('is answered where other hosts may connect, until the names are listed', async () => {
    const remote = { host: '0.0.0.0', allowRemote: true };
    expect((await statusFor('tidewater.monitoring.svc:9464', remote))[0]).toBe(200);
    const listed = { ...remote, allowedHosts: ['tidewater.monitoring.svc'] };
    expect((await statusFor('Tidewater.monitoring.svc:9464', listed))[0]).toBe(200);
    expect((await statusFor('10.1.2.3:9464', listed))[0]).toBe(200);
    expect((await statusFor('attacker.example', listed))[0]).toBe(421);
  });
});
