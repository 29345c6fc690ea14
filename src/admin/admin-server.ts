import { isIP } from 'node:net';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { type JsonValue, printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import { shownJson } from '../base/redaction.ts';
import type { HealthReport } from '../observability/health.ts';
import type { Logger } from '../observability/logger.ts';
import { isAllowedHost, isLoopback } from './allowed-host.ts';
import { type FreshnessRequest, freshnessJson, freshnessRequestOf, type TopicFreshness } from './freshness.ts';
import { makeProblem, problemContentType, problemOf } from './problem.ts';
import { type PipelineStatus, statusJson } from './status.ts';

/** Where and how it listens; `config.server` has this shape. */
export interface AdminSettings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly allowRemote: boolean;
  readonly maxEventLoopDelayMs: number;
  readonly requestTimeoutMs: number;
  /** Names of the server beside its addresses; see `isAllowedHost`. */
  readonly allowedHosts: readonly string[];
}

/** What the server shows; handed in, so that it knows no service. */
export interface AdminPorts {
  readonly health: () => HealthReport;
  readonly status: (signal: AbortSignal) => Promise<PipelineStatus>;
  readonly freshness: (request: FreshnessRequest, signal: AbortSignal) => Promise<TopicFreshness>;
  readonly metrics: { readonly contentType: string; readonly exposition: () => Promise<string> };
  /** Longest delay of the event loop lately, or of a worker thread that cannot be ended, in milliseconds: the only thing liveness depends on. */
  readonly eventLoopDelayMs: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface AdminServer {
  /** Listens; resolves with the address in use. @throws ServiceError `ADMIN_PORT_UNAVAILABLE` (unavailable). */
  start(): Promise<{ readonly url: string; readonly host: string; readonly port: number }>;
  /** Answers what is under way and closes. */
  stop(): Promise<void>;
}

const maxBodyBytes = 1_024;
/** More than probes and scrapers need, and less than the files that a process may have open. */
const maxConnections = 256;
const connectionTimeoutMs = 30_000;
const keepAliveTimeoutMs = 5_000;
const jsonType = 'application/json; charset=utf-8';

/**
 * `/livez`, `/readyz`, `/startupz`, `/metrics`, `/status`, `/v1/freshness`. Read only and without log-in.
 *
 * @throws ServiceError `ADMIN_REMOTE_REFUSED` (invalid) when the host is no loopback address and `allowRemote` is not set.
 */
export function createAdminServer(settings: AdminSettings, ports: AdminPorts): AdminServer {
  if (!settings.allowRemote && !isLoopback(settings.host)) {
    throw serviceError.invalid(
      'ADMIN_REMOTE_REFUSED',
      `server.host ${settings.host} can be reached from other hosts and the server has no log-in`,
      { hint: 'use 127.0.0.1, or set server.allowRemote: true and limit access by a network policy or a proxy' },
    );
  }
  const app = fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    connectionTimeout: connectionTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Open keep-alive connections must not hold up the end of the process.
    forceCloseConnections: true,
    // For requests that no handler sees, such as an address that cannot be decoded.
    frameworkErrors: (error, _request, reply) => {
      void sendProblem(reply, problemOf(error));
    },
  });
  app.server.maxConnections = maxConnections;
  addErrorPages(app, ports.logger);
  endBodies(app);
  refuseOtherHosts(app, settings);
  addProbes(app, settings, ports);
  addReports(app, settings, ports);
  return {
    start: () => listen(app, settings),
    stop: () => app.close(),
  };
}

function refuseOtherHosts(app: FastifyInstance, settings: AdminSettings): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (isAllowedHost(request.headers.host, settings)) done();
    else done(hostRefused());
  });
}

/** No page takes a body: a connection is not kept for one that arrives a byte at a time. */
function endBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if ((length ?? '0') !== '0' || encoding !== undefined) void reply.header('connection', 'close');
    done();
  });
}

function hostRefused(): ServiceError {
  return serviceError.invalid('ADMIN_HOST_REFUSED', 'the request is for a host that this server is not known as', {
    hint: 'ask by an IP address or localhost, or name the host in server.allowedHosts',
  });
}

function addProbes(app: FastifyInstance, settings: AdminSettings, ports: AdminPorts): void {
  app.get('/livez', (_request, reply) => {
    const delayMs = ports.eventLoopDelayMs();
    const alive = delayMs <= settings.maxEventLoopDelayMs;
    return sendProbe(reply, alive, { status: alive ? 'alive' : 'hung', eventLoopDelaySeconds: delayMs / 1_000 });
  });
  app.get('/readyz', (_request, reply) => {
    const report = ports.health();
    return sendProbe(reply, report.ready, healthJson(report, report.ready ? 'ready' : report.draining ? 'draining' : 'not-ready'));
  });
  app.get('/startupz', (_request, reply) => {
    const report = ports.health();
    return sendProbe(reply, report.started, healthJson(report, report.started ? 'started' : 'starting'));
  });
}

function addReports(app: FastifyInstance, settings: AdminSettings, ports: AdminPorts): void {
  app.get('/', (_request, reply) =>
    send(reply, 200, { name: 'tidewater', links: ['/livez', '/readyz', '/startupz', '/metrics', '/status', '/v1/freshness'] }),
  );
  app.get('/metrics', async (_request, reply) => {
    const text = await within(settings.requestTimeoutMs, ports.clock, () => ports.metrics.exposition());
    return reply.header('content-type', ports.metrics.contentType).header('cache-control', 'no-store').send(text);
  });
  app.get('/status', async (_request, reply) => {
    const status = await within(settings.requestTimeoutMs, ports.clock, (signal) => ports.status(signal));
    return send(reply, 200, statusJson(status));
  });
  app.get('/v1/freshness', async (request, reply) => {
    const asked = freshnessRequestOf(new URLSearchParams(request.url.split('?')[1] ?? ''));
    const found = await within(settings.requestTimeoutMs, ports.clock, (signal) => ports.freshness(asked, signal));
    return send(reply, 200, freshnessJson(found));
  });
}

function sendProblem(reply: FastifyReply, problem: ReturnType<typeof problemOf>): FastifyReply {
  return reply.code(problem.status).header('content-type', problemContentType).send(problem.body);
}

function addErrorPages(app: FastifyInstance, logger: Logger): void {
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, makeProblem(404, { title: 'not-found', code: 'PAGE_NOT_FOUND', detail: `nothing answers ${request.method} here` })),
  );
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    if (problem.status >= 500) logger.warn('admin request failed', { err: error, method: request.method, route: request.routeOptions.url });
    return sendProblem(reply, problem);
  });
}

async function listen(app: FastifyInstance, settings: AdminSettings): Promise<{ url: string; host: string; port: number }> {
  try {
    await app.listen({ host: settings.host, port: settings.port });
  } catch (cause) {
    throw serviceError.unavailable(
      'ADMIN_PORT_UNAVAILABLE',
      `cannot listen on ${settings.host}:${settings.port}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { retryable: false, hint: 'choose another server.port; 0 takes any free one', cause },
    );
  }
  const bound = app.server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : settings.port;
  const host = isIP(settings.host) === 6 ? `[${settings.host}]` : settings.host;
  return { url: `http://${host}:${port}`, host: settings.host, port };
}

/** @throws ServiceError `ADMIN_TIMEOUT` (unavailable) when the answer takes longer. */
async function within<T>(timeoutMs: number, clock: Clock, collect: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const done = new AbortController();
  const timeout = clock.sleep(timeoutMs, done.signal).then(() => {
    late.abort();
    throw serviceError.unavailable('ADMIN_TIMEOUT', `no answer within ${timeoutMs} ms`);
  });
  // Whoever loses the race must not end as an unhandled rejection.
  timeout.catch(() => undefined);
  const answer = collect(late.signal);
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    done.abort();
  }
}

function healthJson(report: HealthReport, status: string): JsonValue {
  const components = report.components.map(({ name, state, detail, since, requiredForReadiness }) => ({
    name,
    state,
    detail,
    since: new Date(since).toISOString(),
    requiredForReadiness,
  }));
  return { status, components };
}

function sendProbe(reply: FastifyReply, passed: boolean, body: JsonValue): FastifyReply {
  return send(reply, passed ? 200 : 503, body);
}

function send(reply: FastifyReply, status: number, body: JsonValue): FastifyReply {
  return reply
    .code(status)
    .header('content-type', jsonType)
    .header('cache-control', 'no-store')
    .send(printJson(shownJson(body)));
}
