import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { environmentProperties, mergedProperties, s3Settings } from '../../../../src/storage/s3/s3-settings.ts';

describe('settings of object stores', () => {
  it('leave everything to the environment when nothing is said', () => {
    expect(s3Settings({})).toEqual({
      endpoint: undefined,
      region: undefined,
      pathStyle: false,
      credentials: undefined,
      requestTimeoutMs: 30_000,
      maxConnections: 64,
      checksums: true,
    });
  });

  it('are known by the names of Iceberg and of Hadoop', () => {
    const iceberg = s3Settings({
      's3.endpoint': 'http://127.0.0.1:9000/',
      's3.path-style-access': 'true',
      'client.region': 'eu-north-1',
      's3.access-key-id': 'key',
      's3.secret-access-key': 'secret',
      's3.session-token': 'token',
    });
    const hadoop = s3Settings({
      'fs.s3a.endpoint': '127.0.0.1:9000',
      'fs.s3a.connection.ssl.enabled': 'false',
      'fs.s3a.path.style.access': 'TRUE',
      'fs.s3a.endpoint.region': 'eu-north-1',
      'fs.s3a.access.key': 'key',
      'fs.s3a.secret.key': 'secret',
      'fs.s3a.session.token': 'token',
    });
    for (const settings of [iceberg, hadoop]) {
      expect(settings).toMatchObject({ endpoint: 'http://127.0.0.1:9000', region: 'eu-north-1', pathStyle: true });
      const { accessKeyId, secretAccessKey, sessionToken } = settings.credentials ?? {};
      expect([accessKeyId, secretAccessKey, sessionToken].map((part) => part?.reveal())).toEqual(['key', 'secret', 'token']);
    }
  });

  it('address the buckets of a server of one’s own by path, in the region such servers take', () => {
    expect(s3Settings({ 's3.endpoint': 'minio:9000' })).toMatchObject({
      endpoint: 'https://minio:9000',
      pathStyle: true,
      region: 'us-east-1',
    });
    expect(s3Settings({ 's3.endpoint': 'https://oss.example', 's3.path-style-access': 'false' })).toMatchObject({ pathStyle: false });
  });

  it.each([
    [{ 's3.endpoint': 'http://' }, 's3.endpoint'],
    [{ 's3.path-style-access': 'yes' }, 's3.path-style-access'],
    [{ 's3.request-timeout-ms': '0' }, 's3.request-timeout-ms'],
    [{ 'fs.s3a.connection.maximum': 'many' }, 'fs.s3a.connection.maximum'],
    [{ 's3.access-key-id': 'key' }, 's3.secret-access-key'],
    [{ 'fs.s3a.secret.key': 'secret' }, 's3.access-key-id'],
  ])('refuse %j by name', (properties, named) => {
    expect(() => s3Settings(properties)).toThrow(expect.objectContaining({ code: 'STORAGE_SETTINGS_INVALID', kind: 'invalid' }));
    expect(() => s3Settings(properties)).toThrow(named);
  });

  it('never show a credential', () => {
    const properties = { 's3.access-key-id': 'canary-key', 's3.secret-access-key': 'canary-secret', 's3.session-token': 'canary-token' };
    expect(inspect(s3Settings(properties), { depth: 9, showHidden: true })).not.toContain('canary');
    const failed = (): unknown => s3Settings({ 's3.endpoint': 'https://user:canary@host' });
    expect(failed).toThrow('s3.endpoint');
    expect(failed).not.toThrow('canary');
  });

  it('of a table replace those below, credentials as a whole and under whatever name', () => {
    const global = {
      'fs.s3a.access.key': 'global',
      'fs.s3a.secret.key': 'global',
      's3.session-token': 'global',
      's3.session-token-expires-at-ms': '1',
      's3.endpoint': 'http://a',
      's3.max-connections': '3',
    };
    expect(
      mergedProperties(global, { 's3.access-key-id': 'vended', 's3.secret-access-key': 'vended', 'fs.s3a.endpoint': 'http://b' }),
    ).toEqual({
      's3.access-key-id': 'vended',
      's3.secret-access-key': 'vended',
      'fs.s3a.endpoint': 'http://b',
      's3.max-connections': '3',
    });
  });

  it('come from the variables that other tools know, credentials excepted', () => {
    const environment = {
      AWS_ENDPOINT_URL: 'http://all',
      AWS_ENDPOINT_URL_S3: 'http://s3',
      AWS_DEFAULT_REGION: 'r',
      AWS_SECRET_ACCESS_KEY: 's',
    };
    expect(environmentProperties(environment)).toEqual({ 's3.endpoint': 'http://s3', 's3.region': 'r' });
  });
});
