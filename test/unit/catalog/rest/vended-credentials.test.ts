import { describe, expect, it } from 'vitest';
import { type JsonObject, printJson } from '../../../../src/base/bigint-json.ts';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { RestClient } from '../../../../src/catalog/rest/rest-client.ts';
import { RestNames } from '../../../../src/catalog/rest/rest-names.ts';
import { restSettings } from '../../../../src/catalog/rest/rest-settings.ts';
import { RestTablePointer } from '../../../../src/catalog/rest/rest-table-pointer.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import { creation } from '../../../support/iceberg-changes.ts';
import { metadataJson } from '../../../support/iceberg-metadata.ts';
import { StepClock } from '../../../support/step-clock.ts';

const hourMs = 3_600_000;
const ident = { namespace: ['db'], name: 't' };
const tablePath = '/v1/namespaces/db/tables/t';
const credentialsPath = `${tablePath}/credentials`;
const credentialsEndpoint = 'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials';
const metadata = applyUpdates(undefined, creation({ location: 's3://lake/db/t' }).updates, { nowMs: 1, baseLocation: undefined });
const metadataLocation = 's3://lake/db/t/metadata/00000-x.metadata.json';

/** A catalog that vends another pair with each answer, for an hour each. */
class VendingServer {
  readonly clock = new StepClock();
  readonly asked: string[] = [];
  endpoints: readonly string[] | undefined;
  /** Credentials stand in the table's settings, as servers of before `storage-credentials` have them. */
  inConfig = false;
  /** In place of the next answers about the table. */
  status: number | undefined;
  pairs = 0;
  prefix = 's3://lake/db';

  readonly send = (url: string, init: RequestInit): Promise<Response> => {
    const { pathname } = new URL(url);
    const request = `${init.method ?? ''} ${pathname}`;
    if (pathname === '/v1/config') return answer({ defaults: { 's3.region': 'r1' }, overrides: {}, ...this.#endpoints });
    this.asked.push(request);
    if (this.status !== undefined) return answer({ error: { code: this.status, type: 'Trouble', message: 'trouble' } }, this.status);
    this.pairs += 1;
    const vended = { 'storage-credentials': [{ prefix: this.prefix, config: this.#pair }] };
    if (request === `GET ${credentialsPath}`) return answer(vended);
    const table = { 'metadata-location': metadataLocation, metadata: metadataJson(metadata), config: { 's3.endpoint': 'http://s3' } };
    return answer(this.inConfig ? { ...table, config: { ...table.config, ...this.#pair } } : { ...table, ...vended });
  };

  pointer(properties: Readonly<Record<string, string>> = {}): RestTablePointer {
    return new RestTablePointer({ name: 'lake.db.t', ident, client: this.client(properties) });
  }

  client(properties: Readonly<Record<string, string>> = {}): RestClient {
    const settings = restSettings('lake', new Map(Object.entries({ uri: 'http://catalog.test', ...properties })));
    return new RestClient({ settings, clock: this.clock, ids: new RandomIdSource(new SeededRandom(5)), send: this.send });
  }

  get #endpoints(): JsonObject {
    return this.endpoints === undefined ? {} : { endpoints: this.endpoints };
  }

  get #pair(): Readonly<Record<string, string>> {
    return {
      's3.access-key-id': `key${this.pairs}`,
      's3.secret-access-key': `secret${this.pairs}`,
      's3.session-token': `token${this.pairs}`,
      's3.session-token-expires-at-ms': String(this.clock.now() + hourMs),
    };
  }
}

function answer(body: JsonObject, status = 200): Promise<Response> {
  return Promise.resolve(new Response(printJson(body), { status }));
}

const keyOf = async (pointer: RestTablePointer): Promise<string | undefined> => (await pointer.fileSettings.current())['s3.access-key-id'];

const listing = ['GET /v1/{prefix}/namespaces/{namespace}/tables/{table}', credentialsEndpoint];

describe('credentials that a REST catalog vends', () => {
  it.each([
    ['the endpoint for credentials where the server lists it', listing, credentialsPath],
    ['the table where the server does not list it', listing.slice(0, 1), tablePath],
    ['the table where the server lists nothing', undefined, tablePath],
  ])('are renewed before they end, from %s', async (_, endpoints, path) => {
    const server = new VendingServer();
    server.endpoints = endpoints;
    const pointer = server.pointer();
    await pointer.load(undefined);
    expect(await keyOf(pointer)).toBe('key1');
    server.clock.advance(hourMs - 6 * 60_000);
    expect(await keyOf(pointer)).toBe('key1');
    server.clock.advance(2 * 60_000);
    expect(await keyOf(pointer)).toBe('key2');
    expect(server.asked).toEqual([`GET ${tablePath}`, `GET ${path}`]);
    // What came with the table stays.
    expect(pointer.fileSettings.newest).toMatchObject({ 's3.region': 'r1', 's3.endpoint': 'http://s3', 's3.session-token': 'token2' });
  });

  it('are renewed where they stand in the settings of the table', async () => {
    const server = new VendingServer();
    server.inConfig = true;
    const pointer = server.pointer();
    await pointer.load(undefined);
    server.clock.advance(hourMs);
    expect(await keyOf(pointer)).toBe('key2');
  });

  it('are not replaced by those of each answer while they are fresh', async () => {
    const server = new VendingServer();
    const pointer = server.pointer();
    const first = await pointer.load(undefined);
    await pointer.load(first);
    expect(await keyOf(pointer)).toBe('key1');
    server.clock.advance(hourMs - 60_000);
    await pointer.load(first);
    expect(await keyOf(pointer)).toBe('key3');
    expect(server.asked).toHaveLength(3);
  });

  it('are asked for by staging again while the table is not made', async () => {
    const server = new VendingServer();
    const names = new RestNames({ client: server.client(), nameOf: ({ name }) => `lake.db.${name}` });
    await names.locationOf(ident, undefined);
    const settings = names.pointer(ident).fileSettings;
    server.clock.advance(hourMs);
    expect((await settings?.current())?.['s3.access-key-id']).toBe('key2');
    expect(server.asked).toEqual(['POST /v1/namespaces/db/tables', 'POST /v1/namespaces/db/tables']);
  });

  it.each([
    ['the user', { 'client.refresh-credentials-enabled': 'false' }],
    ['the server', {}],
  ])('are used to their end where %s does not want them renewed', async (who, properties) => {
    const server = new VendingServer();
    const pointer = server.pointer(properties);
    await pointer.load(undefined);
    if (who === 'the server') {
      const offered = { ...pointer.fileSettings.newest, 'client.refresh-credentials-enabled': 'false' };
      server.clock.advance(hourMs - 60_000);
      pointer.fileSettings.offer(offered);
    }
    server.clock.advance(hourMs);
    expect(await keyOf(pointer)).toBe('key1');
    expect(server.asked).toHaveLength(1);
  });

  it.each([
    ['503', 503, 'unavailable'],
    ['403', 403, 'invalid'],
    ['404 of a table that is gone', 404, 'invalid'],
  ])('which the server does not renew (%s) end in an error that names the table and shows no secret', async (_, status, kind) => {
    const server = new VendingServer();
    const pointer = server.pointer({ token: 'bearer-secret' });
    await pointer.load(undefined);
    server.status = status;
    server.clock.advance(hourMs);
    const error: unknown = await pointer.fileSettings.current().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'STORAGE_CREDENTIALS_NOT_RENEWED', kind });
    expect((error as Error).message).toContain('"lake.db.t"');
    expect(JSON.stringify(error) + String(error) + String((error as Error).cause)).not.toMatch(/secret|token1|key1/);
  });

  it.each([
    ['from its endpoint', listing],
    ['with the table', undefined],
  ])('are an error where the server has none for the place of the table, %s: no others are taken', async (_, endpoints) => {
    const server = new VendingServer();
    server.endpoints = endpoints;
    const pointer = server.pointer();
    await pointer.load(undefined);
    server.prefix = 's3://elsewhere';
    server.clock.advance(hourMs);
    await expect(pointer.fileSettings.current()).rejects.toMatchObject({ code: 'STORAGE_CREDENTIALS_NOT_RENEWED', kind: 'invalid' });
  });
});
