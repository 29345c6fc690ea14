import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, printJson } from '../../../../src/base/bigint-json.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { RestClient } from '../../../../src/catalog/rest/rest-client.ts';
import { restSettings } from '../../../../src/catalog/rest/rest-settings.ts';
import { RestViews } from '../../../../src/catalog/rest/rest-views.ts';
import { newView, replacingView } from '../../../../src/iceberg/view/plan-view.ts';
import { viewToJson } from '../../../../src/iceberg/view/view-json.ts';
import { viewOf } from '../../../conformance/iceberg-views.ts';

interface Sent {
  readonly request: string;
  readonly body: JsonValue | undefined;
}

/** Views of a server whose answers are given by request; everything else is not there. */
function viewsOf(
  config: JsonValue,
  answers: Readonly<Record<string, JsonValue>> = {},
  settings: Readonly<Record<string, string>> = {},
): { readonly views: RestViews; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const client = new RestClient({
    settings: restSettings('rest', new Map(Object.entries({ uri: 'http://catalog', ...settings }))),
    clock: new SystemClock(),
    ids: new RandomIdSource(new SeededRandom(3)),
    send: (url, init) => {
      const request = `${init.method ?? 'GET'} ${new URL(url).pathname}`;
      sent.push({ request, body: typeof init.body === 'string' ? parseJson(init.body, 'body') : undefined });
      const answer = request === 'GET /v1/config' ? config : answers[request];
      return Promise.resolve(answer === undefined ? new Response('{}', { status: 404 }) : new Response(printJson(answer)));
    },
  });
  return { views: new RestViews(client), sent };
}

const v = { namespace: ['db'], name: 'v' };
const path = '/v1/namespaces/db/views/v';
const place = {
  catalog: 'lake',
  uuid: '8f2b1d0a-5a0e-4a5c-9d5e-0c8a6f3b7e11',
  location: '/lake/db/v',
  nowMs: toEpochMs(1_700_000_000_000),
};
const metadata = newView(viewOf('SELECT 1L AS id'), place);
const loaded = { 'metadata-location': '/lake/db/v/metadata/00000-x.metadata.json', metadata: viewToJson(metadata) };

describe('views of REST servers', () => {
  it.each([
    ['that does not list its endpoints', { defaults: {}, overrides: {} }, {}],
    [
      'that lists others',
      { defaults: {}, overrides: {}, endpoints: ['GET /v1/{prefix}/namespaces'] },
      { 'view-endpoints-supported': 'true' },
    ],
  ])('are not asked for at one %s', async (_, config, settings) => {
    const { views, sent } = viewsOf(config, { [`GET ${path}`]: loaded }, settings);
    expect(await views.load(v)).toBeUndefined();
    expect(await views.views(['db'])).toEqual([]);
    expect(await views.drop(v)).toBe(false);
    expect(sent.map(({ request }) => request)).toEqual(['GET /v1/config']);
  });

  it.each([
    ['lists them', { endpoints: ['GET /v1/{prefix}/namespaces/{namespace}/views/{view}'] }, {}],
    ['says so', { overrides: { 'view-endpoints-supported': 'true' } }, {}],
    ['has a user who says so', {}, { 'view-endpoints-supported': 'true' }],
  ])('are asked for at one that %s', async (_, config, settings) => {
    const { views } = viewsOf(config, { [`GET ${path}`]: loaded }, settings);
    expect(await views.load(v)).toEqual({ metadata, metadataLocation: loaded['metadata-location'] });
  });

  it('are replaced by what was added, under the condition that they are still the same view', async () => {
    const { views, sent } = viewsOf({}, { [`POST ${path}`]: loaded });
    const schema = { kind: 'struct', fields: [{ name: 'n', type: { kind: 'string' }, nullable: true }] } as const;
    const updates = replacingView(metadata, viewOf("SELECT 'x' AS n", { schema, queryColumns: ['n'] }), place);
    expect(await views.change(v, { metadata, metadataLocation: undefined }, updates)).toBe(true);
    expect(sent.at(-1)).toMatchObject({
      request: `POST ${path}`,
      body: {
        identifier: { namespace: ['db'], name: 'v' },
        requirements: [{ type: 'assert-view-uuid', uuid: place.uuid }],
        updates: [
          { action: 'set-properties', updates: { 'spark.query-column-names': 'n' } },
          { action: 'add-schema', schema: { 'schema-id': 1, fields: [{ id: 0, name: 'n', required: false, type: 'string' }] } },
          {
            action: 'add-view-version',
            'view-version': {
              'version-id': 2,
              'schema-id': -1,
              'default-namespace': ['db'],
              representations: [{ type: 'sql', sql: "SELECT 'x' AS n", dialect: 'spark' }],
            },
          },
          { action: 'set-current-view-version', 'view-version-id': -1 },
        ],
      },
    });
  });

  it('of format versions that are not known are refused by name', async () => {
    const later = { ...loaded, metadata: { ...loaded.metadata, 'format-version': 2 } };
    const { views } = viewsOf({}, { [`GET ${path}`]: later }, { 'view-endpoints-supported': 'true' });
    await expect(views.load(v)).rejects.toMatchObject({ code: 'ICEBERG_FORMAT_VERSION_UNSUPPORTED', kind: 'unsupported' });
  });
});
