import { expect, it } from 'vitest';
import { RegistrySubjects } from '../../../src/registry/registry-subjects.ts';
import type { RegistrySettings } from '../../../src/registry/settings.ts';

const settings: RegistrySettings = { url: 'http://registry:8081', auth: undefined, onUnknownSchema: 'wait' };
const avro = { type: 'AVRO', text: '"long"' } as const;

interface Asked {
  readonly method: string | undefined;
  readonly url: string;
  readonly body: unknown;
}

function answering(status: number, body: unknown): { readonly subjects: RegistrySubjects; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const subjects = new RegistrySubjects(settings, (url, init) => {
    asked.push({ method: init.method, url, body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined });
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
  return { subjects, asked };
}

it('registers a schema under its subject, whose name is any text', async () => {
  const { subjects, asked } = answering(200, { id: 7 });
  expect(await subjects.register('a/b-value', avro)).toEqual({ kind: 'registered', id: 7 });
  expect(await subjects.register('a/b-value', { type: 'PROTOBUF', text: 'syntax = "proto3";' })).toEqual({ kind: 'registered', id: 7 });
  expect(asked).toEqual([
    { method: 'POST', url: 'http://registry:8081/subjects/a%2Fb-value/versions', body: { schema: '"long"' } },
    {
      method: 'POST',
      url: 'http://registry:8081/subjects/a%2Fb-value/versions',
      body: { schema: 'syntax = "proto3";', schemaType: 'PROTOBUF' },
    },
  ]);
});

it.each([409, 422])('tells a schema that the subject refuses, by its reason (%s)', async (status) => {
  const { subjects } = answering(status, { error_code: 409, message: 'READER_FIELD_MISSING_DEFAULT_VALUE' });
  expect(await subjects.register('s', avro)).toEqual({ kind: 'refused', reason: 'READER_FIELD_MISSING_DEFAULT_VALUE' });
});

it('finds a schema that the subject has, and that it has none', async () => {
  expect(await answering(200, { subject: 's', id: 3, version: 1, schema: '"long"' }).subjects.find('s', avro)).toBe(3);
  expect(await answering(404, { error_code: 40403, message: 'Schema not found' }).subjects.find('s', avro)).toBeUndefined();
  expect(await answering(200, { id: 9, schema: '"long"' }).subjects.latest('s')).toEqual({ type: 'AVRO', text: '"long"', id: 9 });
  expect(await answering(404, { error_code: 40401, message: 'Subject not found' }).subjects.latest('s')).toBeUndefined();
});

it('says why a subject would refuse a schema, and registers nothing for it', async () => {
  const incompatible = answering(200, { is_compatible: false, messages: ['a', 'b'] });
  expect(await incompatible.subjects.refusal('s', avro)).toBe('a; b');
  expect(incompatible.asked[0]?.url).toBe('http://registry:8081/compatibility/subjects/s/versions/latest?verbose=true');
  expect(await answering(200, { is_compatible: true }).subjects.refusal('s', avro)).toBeUndefined();
  expect(await answering(404, { error_code: 40401, message: 'Subject not found' }).subjects.refusal('s', avro)).toBeUndefined();
});

it('is tried again where the registry is down, and where something else answers', async () => {
  const down = new RegistrySubjects(settings, () => Promise.reject(new Error('connect ECONNREFUSED')));
  await expect(down.register('s', avro)).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE', kind: 'unavailable' });
  await expect(answering(404, '<html>').subjects.register('s', avro)).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(answering(200, { id: 'x' }).subjects.register('s', avro)).rejects.toMatchObject({ code: 'REGISTRY_ANSWER_INVALID' });
});
