import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../src/base/bigint-json.ts';
import { printJson } from '../../../../src/base/bigint-json.ts';
import { type Clock, toEpochMs } from '../../../../src/base/clock.ts';
import type { SendHttp } from '../../../../src/base/http-exchange.ts';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { RestClient } from '../../../../src/catalog/rest/rest-client.ts';
import { RestNames } from '../../../../src/catalog/rest/rest-names.ts';
import { restSettings } from '../../../../src/catalog/rest/rest-settings.ts';
import { RestTablePointer } from '../../../../src/catalog/rest/rest-table-pointer.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import { appended, creation } from '../../../support/iceberg-changes.ts';
import { metadataJson } from '../../../support/iceberg-metadata.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

type Answer =
  | { readonly status?: number; readonly body?: JsonValue; readonly headers?: Record<string, string>; readonly text?: string }
  | Error;

/** A server that answers as it is told, in order for each request; the last answer again and again. */
class ScriptedServer {
  readonly sent: Sent[] = [];
  readonly #answers: Map<string, Answer[]>;

  constructor(answers: Readonly<Record<string, Answer | readonly Answer[]>>) {
    const config: Answer = { body: { defaults: {}, overrides: {} } };
    const all = { 'GET /v1/config': config, ...answers };
    this.#answers = new Map(
      Object.entries(all).map(([key, value]) => [key, Array.isArray(value) ? [...(value as Answer[])] : [value as Answer]]),
    );
  }

  readonly send: SendHttp = (url, init) => {
    const { pathname, searchParams } = new URL(url);
    const method = init.method ?? 'GET';
    const headers = Object.fromEntries(new Headers(init.headers as Record<string, string>).entries());
    const body = typeof init.body === 'string' ? init.body : undefined;
    this.sent.push({ method, path: pathname, query: Object.fromEntries(searchParams), headers, body });
    const answers = this.#answers.get(`${method} ${pathname}`) ?? [{ status: 404, body: error(404, 'NoSuchTableException', 'no') }];
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
    if (answer instanceof Error) return Promise.reject(answer);
    const { status = 200, headers: answered = {}, text } = answer;
    const empty = status === 304 || status === 204;
    return Promise.resolve(new Response(empty ? null : (text ?? printJson(answer.body ?? {})), { status, headers: answered }));
  };

  requests(path: string): readonly Sent[] {
    return this.sent.filter((each) => each.path === path);
  }
}

function error(code: number, type: string, message: string): JsonValue {
  return { error: { code, type, message } };
}

class StepClock implements Clock {
  ms = 1_700_000_000_000;
  now = () => toEpochMs(this.ms);
  monotonicMs = () => this.ms;
  sleep = () => Promise.resolve();
}

const ids = new RandomIdSource(new SeededRandom(11));
const tablePath = '/v1/namespaces/db/tables/t';
const metadata = applyUpdates(undefined, creation({ location: '/lake/db/t' }).updates, { nowMs: 1, baseLocation: undefined });
const metadataLocation = '/lake/db/t/metadata/00000-x.metadata.json';
const table = { 'metadata-location': metadataLocation, metadata: metadataJson(metadata) };
const base = { metadata, metadataLocation };

function clientOf(server: ScriptedServer, properties: Readonly<Record<string, string>> = {}, clock: Clock = new StepClock()): RestClient {
  const settings = restSettings('c', new Map(Object.entries({ uri: 'http://catalog.test/', ...properties })));
  return new RestClient({ settings, clock, ids, send: server.send });
}

function pointerOf(server: ScriptedServer, properties: Readonly<Record<string, string>> = {}, clock?: Clock): RestTablePointer {
  return new RestTablePointer({ name: 'c.db.t', ident: { namespace: ['db'], name: 't' }, client: clientOf(server, properties, clock) });
}

function namesOf(server: ScriptedServer, properties: Readonly<Record<string, string>> = {}): RestNames {
  return new RestNames({ client: clientOf(server, properties), nameOf: (ident) => ident.name });
}

describe('configuration of a REST catalog', () => {
  it('is asked for once, with the warehouse, and gives the prefix of all paths', async () => {
    const path = '/v1/my%20prefix/x/namespaces/a%1Fb/tables';
    const server = new ScriptedServer({
      'GET /v1/config': { body: { defaults: { prefix: 'ignored' }, overrides: { prefix: 'my prefix/x' } } },
      [`GET ${path}`]: { body: { identifiers: [{ namespace: ['a', 'b'], name: 't' }] } },
    });
    const names = namesOf(server, { warehouse: 'w h', prefix: 'mine' });
    expect(await names.tables(['a', 'b'])).toEqual(['t']);
    expect(await names.tables(['a', 'b'])).toEqual(['t']);
    expect(server.requests('/v1/config').map((each) => each.query)).toEqual([{ warehouse: 'w h' }]);
  });

  it('gives what stands between the levels of namespaces, which the server wants as it has written it', async () => {
    // Java's server splits the path at %2E before it decodes it, and parameters at the dot afterwards.
    const overrides = { 'namespace-separator': '%2E' };
    const server = new ScriptedServer({
      'GET /v1/config': { body: { overrides } },
      'GET /v1/namespaces/a%2Eb%20c/tables': { body: { identifiers: [] } },
      'GET /v1/namespaces': { body: { namespaces: [] } },
    });
    const names = namesOf(server);
    expect(await names.tables(['a', 'b c'])).toEqual([]);
    await names.namespaces(['a', 'b c']);
    expect(server.requests('/v1/namespaces')[0]?.query).toEqual({ parent: 'a.b c' });
  });

  it('is asked for again after it could not be had', async () => {
    const server = new ScriptedServer({ 'GET /v1/config': [{ status: 503 }, { body: {} }], [`GET ${tablePath}`]: { body: table } });
    const pointer = pointerOf(server);
    await expect(pointer.load(undefined)).rejects.toMatchObject({ code: 'REST_CATALOG_UNAVAILABLE', kind: 'unavailable' });
    expect((await pointer.load(undefined))?.metadataLocation).toBe(metadataLocation);
  });

  it('with a list of endpoints forbids the others', async () => {
    const body = { defaults: {}, overrides: {}, endpoints: ['GET /v1/{prefix}/namespaces/{namespace}/tables/{table}'] };
    const server = new ScriptedServer({ 'GET /v1/config': { body } });
    const names = namesOf(server);
    await expect(names.rename({ namespace: ['db'], name: 'a' }, { namespace: ['db'], name: 'b' })).rejects.toMatchObject({
      code: 'REST_CATALOG_UNSUPPORTED',
      message: expect.stringContaining('POST /v1/{prefix}/tables/rename') as string,
    });
    expect(server.sent).toHaveLength(1);
  });

  it('does not move credentials to another address', async () => {
    const overrides = { uri: 'http://evil.test', 'oauth2-server-uri': 'http://evil.test/tokens' };
    const urls: string[] = [];
    const server = new ScriptedServer({ 'GET /v1/config': { body: { overrides } }, [`GET ${tablePath}`]: { body: table } });
    const settings = restSettings(
      'c',
      new Map([
        ['uri', 'http://catalog.test'],
        ['token', 'secret'],
      ]),
    );
    const send: SendHttp = (url, init) => {
      urls.push(url);
      return server.send(url, init);
    };
    const client = new RestClient({ settings, clock: new StepClock(), ids, send });
    await new RestTablePointer({ name: 't', ident: { namespace: ['db'], name: 't' }, client }).load(undefined);
    expect(urls.every((url) => url.startsWith('http://catalog.test/'))).toBe(true);
  });
});

describe('requests of a REST catalog', () => {
  it('carry the headers of the settings', async () => {
    const server = new ScriptedServer({ [`GET ${tablePath}`]: { body: table } });
    await pointerOf(server, { 'header.X-Tenant': 'blue' }).load(undefined);
    expect(server.requests(tablePath)[0]?.headers).toMatchObject({
      'x-tenant': 'blue',
      'x-iceberg-access-delegation': 'vended-credentials',
    });
    const without = new ScriptedServer({ [`GET ${tablePath}`]: { body: table } });
    await pointerOf(without, { 'header.x-iceberg-access-delegation': 'remote-signing' }).load(undefined);
    expect(without.requests(tablePath)[0]?.headers['x-iceberg-access-delegation']).toBe('remote-signing');
  });

  it('follow the pages of a list', async () => {
    const server = new ScriptedServer({
      'GET /v1/namespaces': [
        { body: { namespaces: [['a']], 'next-page-token': 'p2' } },
        { body: { namespaces: [['b'], ['c']], 'next-page-token': null } },
      ],
    });
    expect(await namesOf(server, { 'rest-page-size': '1' }).namespaces([])).toEqual([['a'], ['b'], ['c']]);
    expect(server.requests('/v1/namespaces').map((each) => each.query)).toEqual([
      { pageToken: '', pageSize: '1' },
      { pageToken: 'p2', pageSize: '1' },
    ]);
  });

  it('do not follow redirects', async () => {
    const server = new ScriptedServer({ [`GET ${tablePath}`]: { status: 302, headers: { location: 'http://evil.test' } } });
    await expect(pointerOf(server).load(undefined)).rejects.toMatchObject({ code: 'REST_CATALOG_ANSWER_INVALID' });
  });

  it.each([
    [400, 'REST_CATALOG_REFUSED', 'invalid'],
    [401, 'REST_CATALOG_UNAUTHORIZED', 'invalid'],
    [403, 'REST_CATALOG_FORBIDDEN', 'invalid'],
    [406, 'REST_CATALOG_UNSUPPORTED', 'unsupported'],
    [429, 'REST_CATALOG_UNAVAILABLE', 'unavailable'],
    [500, 'REST_CATALOG_UNAVAILABLE', 'unavailable'],
    [504, 'REST_CATALOG_UNAVAILABLE', 'unavailable'],
  ])('that read and get %d fail as %s', async (status, code, kind) => {
    const server = new ScriptedServer({ [`GET ${tablePath}`]: { status, body: error(status, 'SomeException', 'because') } });
    await expect(pointerOf(server).load(undefined)).rejects.toMatchObject({ code, kind });
  });

  it('that are no JSON fail by name', async () => {
    const server = new ScriptedServer({ [`GET ${tablePath}`]: { text: '<html>' } });
    await expect(pointerOf(server).load(undefined)).rejects.toMatchObject({ code: 'REST_CATALOG_ANSWER_INVALID', kind: 'corrupt' });
  });
});

describe('authorization of a REST catalog', () => {
  const credential = { credential: 'id:sec:ret', scope: 'PRINCIPAL', audience: 'x' };
  const tokens = '/v1/oauth/tokens';

  it('asks for a token with the credential and sends it', async () => {
    const server = new ScriptedServer({ [`POST ${tokens}`]: { body: { access_token: 'T1' } }, [`GET ${tablePath}`]: { body: table } });
    await pointerOf(server, credential).load(undefined);
    expect(Object.fromEntries(new URLSearchParams(server.requests(tokens)[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'id',
      client_secret: 'sec:ret',
      scope: 'PRINCIPAL',
      audience: 'x',
    });
    expect(server.requests(tokens)[0]?.headers['authorization']).toBeUndefined();
    expect(server.requests(tablePath)[0]?.headers['authorization']).toBe('Bearer T1');
  });

  it('asks once for requests that begin together, and again before the token ends', async () => {
    const clock = new StepClock();
    const server = new ScriptedServer({
      [`POST ${tokens}`]: [{ body: { access_token: 'T1', expires_in: 300 } }, { body: { access_token: 'T2', expires_in: 300 } }],
      [`GET ${tablePath}`]: { body: table },
    });
    const pointer = pointerOf(server, credential, clock);
    await Promise.all([pointer.load(undefined), pointer.load(undefined)]);
    expect(server.requests(tokens)).toHaveLength(1);
    clock.ms += 239_000;
    await pointer.load(undefined);
    expect(server.requests(tokens)).toHaveLength(1);
    clock.ms += 2_000;
    await pointer.load(undefined);
    expect(server.requests(tablePath).at(-1)?.headers['authorization']).toBe('Bearer T2');
  });

  it.each([401, 419])('repeats a request once with another token after %d, a commit too', async (status) => {
    const server = new ScriptedServer({
      [`POST ${tokens}`]: [{ body: { access_token: 'T1' } }, { body: { access_token: 'T2' } }],
      [`POST ${tablePath}`]: [{ status, body: error(status, 'AuthenticationTimeoutException', 'late') }, { body: table }],
    });
    expect(await pointerOf(server, credential).swap(base, appended(base, 1n))).toMatchObject({ kind: 'committed' });
    expect(server.requests(tablePath).map((each) => each.headers['authorization'])).toEqual(['Bearer T1', 'Bearer T2']);
  });

  it('does not repeat with a token that cannot be renewed', async () => {
    const server = new ScriptedServer({ [`GET ${tablePath}`]: { status: 401 } });
    await expect(pointerOf(server, { token: 'T' }).load(undefined)).rejects.toMatchObject({ code: 'REST_CATALOG_UNAUTHORIZED' });
    expect(server.requests(tablePath)).toHaveLength(1);
  });

  it('tells of a refused credential without showing it', async () => {
    const body = { error: 'invalid_client', error_description: 'who are you' };
    const server = new ScriptedServer({ [`POST ${tokens}`]: { status: 400, body } });
    const failure: unknown = await pointerOf(server, credential)
      .load(undefined)
      .catch((reason: unknown) => reason);
    expect(failure).toMatchObject({ code: 'REST_CATALOG_UNAUTHORIZED', message: expect.stringContaining('who are you') as string });
    expect(String(failure)).not.toContain('sec');
  });

  it('may be a user and a password', async () => {
    const server = new ScriptedServer({ [`GET ${tablePath}`]: { body: table } });
    const basic = { 'rest.auth.type': 'basic', 'rest.auth.basic.username': 'u', 'rest.auth.basic.password': 'p' };
    await pointerOf(server, basic).load(undefined);
    expect(server.requests(tablePath)[0]?.headers['authorization']).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`);
  });
});

describe('a table of a REST catalog', () => {
  it('is not sent again while it is the same', async () => {
    const server = new ScriptedServer({ [`GET ${tablePath}`]: [{ body: table, headers: { etag: '"e1"' } }, { status: 304 }] });
    const pointer = pointerOf(server);
    const first = await pointer.load(undefined);
    expect(await pointer.load(first)).toBe(first);
    expect(server.requests(tablePath)[1]?.headers['if-none-match']).toBe('"e1"');
  });

  it('brings the settings of its files: of the catalog, of the table, and the credentials for where it lies', async () => {
    const body = {
      ...table,
      config: { 's3.region': 'table', other: 'x' },
      'storage-credentials': [
        { prefix: '/lake/db/t', config: { 's3.access-key-id': 'K' } },
        { prefix: '/lake', config: { 's3.access-key-id': 'too wide' } },
        { prefix: '/elsewhere', config: { 's3.access-key-id': 'wrong' } },
      ],
    };
    const config = { defaults: { 's3.endpoint': 'E', 's3.region': 'catalog', unrelated: 'y' }, overrides: {} };
    const server = new ScriptedServer({ 'GET /v1/config': { body: config }, [`GET ${tablePath}`]: { body, headers: { etag: '"e"' } } });
    const pointer = pointerOf(server);
    const first = await pointer.load(undefined);
    expect(pointer.fileSettings.newest).toEqual({ 's3.endpoint': 'E', 's3.region': 'table', other: 'x', 's3.access-key-id': 'K' });
    // Nobody says when these end: they are asked for each time, not only when the table has changed.
    expect(await pointer.load(first)).toBe(first);
    expect(server.requests(tablePath)[1]?.headers['if-none-match']).toBeUndefined();
  });

  const reset = Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
  const refused = Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });

  it.each<[string, Answer, string]>([
    ['409', { status: 409, body: error(409, 'CommitFailedException', 'lost') }, 'conflicted'],
    ['400 with failed validation', { status: 400, body: error(400, 'BadRequest', 'Commit validation failed: x') }, 'conflicted'],
    ['404 of a table that was dropped', { status: 404, body: error(404, 'NoSuchTableException', 'gone') }, 'conflicted'],
    ['500', { status: 500, body: error(500, 'Oops', 'x') }, 'unknown'],
    ['502', { status: 502, text: 'bad gateway' }, 'unknown'],
    ['503', { status: 503 }, 'unknown'],
    ['504', { status: 504 }, 'unknown'],
    ['408', { status: 408 }, 'unknown'],
    ['429', { status: 429 }, 'unknown'],
    ['a connection that is lost', reset, 'unknown'],
    ['an answer that is no table', { body: { nope: 1 } }, 'unknown'],
    ['an answer that is no JSON', { text: '{"metadata": {' }, 'unknown'],
  ])('whose commit gets %s is %s', async (_, answer, kind) => {
    const server = new ScriptedServer({ [`POST ${tablePath}`]: answer });
    expect(await pointerOf(server).swap(base, appended(base, 1n))).toMatchObject({ kind });
    expect(server.requests(tablePath)).toHaveLength(1);
  });

  it.each<[string, Answer, string]>([
    ['400', { status: 400, body: error(400, 'ValidationException', 'bad') }, 'REST_CATALOG_REFUSED'],
    ['403', { status: 403 }, 'REST_CATALOG_FORBIDDEN'],
    ['404 of its namespace', { status: 404, body: error(404, 'NoSuchNamespaceException', 'gone') }, 'SCHEMA_NOT_FOUND'],
    ['no connection', refused, 'REST_CATALOG_UNAVAILABLE'],
  ])('whose commit gets %s throws', async (_, answer, code) => {
    const server = new ScriptedServer({ [`POST ${tablePath}`]: answer });
    await expect(pointerOf(server).swap(base, appended(base, 1n))).rejects.toMatchObject({ code });
  });

  it('sends its changes as the protocol has them, numbers beyond the doubles too', async () => {
    const server = new ScriptedServer({ [`POST ${tablePath}`]: { body: table } });
    await pointerOf(server).swap(base, appended(base, 9_007_199_254_740_993n));
    const body = server.requests(tablePath)[0]?.body ?? '';
    expect(body).toContain('"snapshot-id":9007199254740993');
    expect(JSON.parse(body)).toMatchObject({
      identifier: { namespace: ['db'], name: 't' },
      requirements: [
        { type: 'assert-table-uuid', uuid: metadata.tableUuid },
        { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null },
      ],
      updates: [{ action: 'add-snapshot' }, { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch' }],
    });
  });

  it('is changed under a key of its own where the server takes keys', async () => {
    const config = { defaults: {}, overrides: {}, 'idempotency-key-lifetime': 'PT30M' };
    const server = new ScriptedServer({ 'GET /v1/config': { body: config }, [`POST ${tablePath}`]: { body: table } });
    const pointer = pointerOf(server);
    await pointer.swap(base, appended(base, 1n));
    await pointer.swap(base, appended(base, 2n));
    const keys = server.requests(tablePath).map((each) => each.headers['idempotency-key'] ?? '');
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const without = new ScriptedServer({ [`POST ${tablePath}`]: { body: table } });
    await pointerOf(without).swap(base, appended(base, 1n));
    expect(without.requests(tablePath)[0]?.headers['idempotency-key']).toBeUndefined();
  });
});

describe('names of a REST catalog', () => {
  const tablesPath = '/v1/namespaces/db/tables';
  const t = { namespace: ['db'], name: 't' };

  it('come with the place and the credentials of a table that is about to be made', async () => {
    const staged = { ...table, 'metadata-location': null, config: { 's3.access-key-id': 'K' } };
    const server = new ScriptedServer({ [`POST ${tablesPath}`]: { body: staged } });
    const names = namesOf(server);
    expect(await names.locationOf(t, undefined)).toBe('/lake/db/t');
    expect(JSON.parse(server.requests(tablesPath)[0]?.body ?? '')).toMatchObject({ name: 't', 'stage-create': true });
    expect(names.pointer(t).fileSettings?.newest).toEqual({ 's3.access-key-id': 'K' });
    expect(names.pointer(t).fileSettings?.newest).toEqual({});
  });

  it('say when the namespace or the place is not to be had', async () => {
    const absent = new ScriptedServer({ [`POST ${tablesPath}`]: { status: 404, body: error(404, 'NoSuchNamespaceException', 'x') } });
    await expect(namesOf(absent).locationOf(t, undefined)).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
    const taken = new ScriptedServer({ [`POST ${tablesPath}`]: { status: 409, body: error(409, 'AlreadyExistsException', 'x') } });
    await expect(namesOf(taken).locationOf(t, undefined)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    expect(await namesOf(taken).locationOf(t, '/new/place')).toBe('/new/place');
  });

  it.each<[string, Answer, string]>([
    ['204', { status: 204 }, 'committed'],
    ['409', { status: 409, body: error(409, 'CommitFailedException', 'lost') }, 'conflicted'],
    ['503', { status: 503 }, 'unknown'],
  ])('change tables together, and %s means what it means for one', async (_, answer, kind) => {
    const server = new ScriptedServer({ 'POST /v1/transactions/commit': answer });
    const changes = ['t', 'u'].map((name) => ({ ident: { namespace: ['db'], name }, base, change: appended(base, 1n) }));
    expect(await namesOf(server).commitTogether(changes)).toMatchObject({ kind });
    expect(JSON.parse(server.requests('/v1/transactions/commit')[0]?.body ?? '')).toMatchObject({
      'table-changes': [{ identifier: { name: 't' } }, { identifier: { name: 'u' } }],
    });
  });

  it('are dropped with and without files', async () => {
    const server = new ScriptedServer({ [`DELETE ${tablePath}`]: { status: 204 } });
    expect(await namesOf(server).drop(t, { purge: true })).toBe(true);
    expect(server.requests(tablePath)[0]?.query).toEqual({ purgeRequested: 'true' });
    expect(await namesOf(new ScriptedServer({})).drop(t, { purge: false })).toBe(false);
  });
});
