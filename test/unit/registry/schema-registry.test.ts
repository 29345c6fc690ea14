import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { SchemaRegistry } from '../../../src/registry/schema-registry.ts';
import type { RegistrySettings } from '../../../src/registry/settings.ts';

const settings: RegistrySettings = { url: 'http://registry:8081/api', auth: undefined, onUnknownSchema: 'wait' };

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A registry that has these paths; everything else is not found. */
function registryWith(answers: Readonly<Record<string, Answer | Error>>, own: Partial<RegistrySettings> = {}) {
  const asked: string[] = [];
  const sent: RequestInit[] = [];
  const registry = new SchemaRegistry({ ...settings, ...own }, (url, init) => {
    const path = url.slice(settings.url.length);
    asked.push(path);
    sent.push(init);
    const answer = answers[path] ?? { status: 404, body: { error_code: 40_403, message: 'Schema not found' } };
    if (answer instanceof Error) return Promise.reject(answer);
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return Promise.resolve(new Response(body, { status: answer.status ?? 200, headers: answer.headers ?? {} }));
  });
  return { registry, asked, sent };
}

describe('a schema registry', () => {
  it('is asked once for a schema, however often and by how many it is wanted', async () => {
    const { registry, asked } = registryWith({ '/schemas/ids/7': { body: { schema: '"long"' } } });
    const all = await Promise.all([registry.schema('ids/7'), registry.schema('ids/7')]);
    expect([...all, await registry.schema('ids/7')]).toEqual(
      Array.from({ length: 3 }, () => ({ key: 'ids/7', schema: { type: 'AVRO', text: '"long"', references: [] } })),
    );
    expect(asked).toEqual(['/schemas/ids/7']);
  });

  it('gives what a schema names with it, the innermost first, also when names lead in a circle', async () => {
    const reference = (name: string, version = 1): object => ({ name, subject: `s/${name}`, version });
    const { registry } = registryWith({
      '/schemas/ids/1': { body: { schema: 'one', schemaType: 'PROTOBUF', references: [reference('a'), reference('b')] } },
      '/subjects/s%2Fa/versions/1': { body: { schema: 'A', references: [reference('b')] } },
      '/subjects/s%2Fb/versions/1': { body: { schema: 'B', references: [reference('a')] } },
    });
    expect(await registry.schema('ids/1')).toEqual({
      key: 'ids/1',
      schema: {
        type: 'PROTOBUF',
        text: 'one',
        references: [
          { name: 'b', text: 'B' },
          { name: 'a', text: 'A' },
        ],
      },
    });
  });

  it('is asked again for what it did not have', async () => {
    const answers: Record<string, Answer> = {};
    const { registry } = registryWith(answers);
    await expect(registry.schema('ids/9')).rejects.toMatchObject({
      code: 'SCHEMA_UNKNOWN',
      kind: 'unavailable',
      message: 'the schema registry has no schema ids/9, which a record names',
    });
    answers['/schemas/ids/9'] = { body: { schema: '"int"' } };
    expect((await registry.schema('ids/9')).schema?.text).toBe('"int"');
  });

  it('says that it has none when such records are rejected', async () => {
    const { registry } = registryWith({}, { onUnknownSchema: 'dead-letter' });
    expect(await registry.schema('ids/9')).toEqual({ key: 'ids/9', schema: undefined });
  });

  it.each<[string, Answer | Error, string]>([
    ['does not answer', Object.assign(new TypeError('fetch failed'), { cause: new Error('connect ECONNREFUSED') }), 'REGISTRY_UNAVAILABLE'],
    ['fails', { status: 503, body: { error_code: 50_003, message: 'leader unknown' } }, 'REGISTRY_UNAVAILABLE'],
    ['is not at the address', { status: 404, body: 'nginx' }, 'REGISTRY_UNAVAILABLE'],
    ['refuses the credentials', { status: 401, body: { error_code: 401, message: 'no' } }, 'REGISTRY_UNAUTHORIZED'],
    ['forbids it', { status: 403, body: {} }, 'REGISTRY_UNAUTHORIZED'],
    ['leads elsewhere', { status: 302, body: '', headers: { location: 'http://evil/' } }, 'REGISTRY_ANSWER_INVALID'],
    ['answers no JSON', { body: '<html>' }, 'REGISTRY_ANSWER_INVALID'],
    ['answers no schema', { body: { id: 7 } }, 'REGISTRY_ANSWER_INVALID'],
    ['has a type that is none', { body: { schema: 'x', schemaType: 'XML' } }, 'REGISTRY_ANSWER_INVALID'],
  ])('that %s is waited for: no record is rejected for it', async (_, answer, code) => {
    const { registry } = registryWith({ '/schemas/ids/7': answer }, { onUnknownSchema: 'dead-letter' });
    const message = expect.stringContaining('GET http://registry:8081/api/schemas/ids/7') as string;
    await expect(registry.schema('ids/7')).rejects.toMatchObject({ code, kind: 'unavailable', message });
  });

  it('whose certificate nobody here knows says how it gets known', async () => {
    const untrusted = Object.assign(new TypeError('fetch failed'), { cause: new Error('self-signed certificate') });
    const { registry } = registryWith({ '/schemas/ids/7': untrusted });
    const hint = expect.stringContaining('NODE_EXTRA_CA_CERTS') as string;
    await expect(registry.schema('ids/7')).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE', hint });
  });

  it('gets its credentials, and follows nobody else with them', async () => {
    for (const [auth, header] of [
      [{ kind: 'basic', username: 'key', password: new Secret('pass') }, 'Basic a2V5OnBhc3M='],
      [{ kind: 'bearer', token: new Secret('tok') }, 'Bearer tok'],
    ] as const) {
      const { registry, sent } = registryWith({ '/schemas/ids/7': { body: { schema: '"long"' } } }, { auth });
      await registry.schema('ids/7');
      expect(sent.map(({ headers, redirect }) => [new Headers(headers).get('authorization'), redirect])).toEqual([[header, 'manual']]);
    }
  });
});
