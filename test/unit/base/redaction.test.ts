import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { isSecretName, shownValue, withoutSecrets } from '../../../src/base/redaction.ts';

describe('a secret is known by its name', () => {
  it.each([
    'password',
    'jdbc.password',
    'saslPassword',
    'passphrase',
    'token',
    'credential',
    's3.secret-access-key',
    's3.access-key-id',
    's3.session-token',
    'fs.s3a.secret.key',
    'fs.azure.account.key.x',
    'fs.azure.account.key.myaccount',
    'adls.sas-token.profile',
    's3.sse.key',
    'privateKey',
    'api_key',
    'client_secret',
    'header.X-Anything',
    'spark.sql.catalog.lake.header.Authorization',
    'X-Amz-Signature',
    'sasl.jaas.config',
  ])('%s', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(shownValue(name, 'canary')).toBe('***');
    expect(shownValue(name, '')).toBe('');
  });

  it.each([
    's3.endpoint',
    'passwordFile',
    'token-refresh-enabled',
    'token-expires-in-ms',
    'oauth2-server-uri',
    'key',
    'partition.key',
    'design',
  ])('%s speaks of none', (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(shownValue(name, 'shown')).toBe('shown');
  });
});

describe('a secret is known by its form', () => {
  it.each([
    ['postgresql://user:canary@db:5432/lake', 'postgresql://***@db:5432/lake'],
    ['redis://:canary@host', 'redis://***@host'],
    [`https://oauth2:${'canary'.repeat(500)}@host`, 'https://***@host'],
    ['authorization: bearer abcdefghij', 'authorization: bearer ***'],
    ['sent bearer canary-1234 twice', 'sent bearer *** twice'],
    ['https://canary@host/x', 'https://***@host/x'],
    ['jdbc:postgresql://db/lake?user=u&password=canary&ssl=true', 'jdbc:postgresql://db/lake?user=u&password=***&ssl=true'],
    ['"postgresql://u:can/ary@db" is not a URI', '"postgresql://***@db" is not a URI'],
    ['postgresql://u:p@canary@db/x', 'postgresql://***@db/x'],
    ['https://b/o?X-Amz-Credential=canary&X-Amz-Date=1', 'https://b/o?X-Amz-Credential=***&X-Amz-Date=1'],
    ['https://b/o?sv=1&sig=canary', 'https://b/o?sv=1&sig=***'],
    ['host=db password=canary dbname=x', 'host=db password=*** dbname=x'],
    ['{"token":"canary","a":"b"}', '{"token":"***","a":"b"}'],
    [
      String.raw`{"properties":"{\"s3.secret-access-key\":\"canary\",\"a\":\"b\"}"}`,
      String.raw`{"properties":"{\"s3.secret-access-key\":\"***\",\"a\":\"b\"}"}`,
    ],
    ["TBLPROPERTIES ('token' = 'canary', 'a' = 'b')", "TBLPROPERTIES ('token' = '***', 'a' = 'b')"],
    ['username="u" password="canary";', 'username="u" password="***";'],
    ['oauth2-token-uri=https://h/t?client_secret=canary', 'oauth2-token-uri=https://h/t?client_secret=***'],
    ['authorization: Bearer canary.1234', 'authorization: Bearer ***'],
    ['-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----', '***'],
  ])('%s', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  it.each([
    's3://bucket/a@b/c',
    'https://minio:9000/bucket/a@b',
    'abfss://container@account.dfs.core.windows.net/x',
    'file:///home/a@b',
    'unexpected token: foo',
    'broker 127.0.0.1:9092 does not answer',
    'a = "b", token-refresh-enabled=true',
    'Basic authentication is refused',
  ])('%s has none', (text) => {
    expect(withoutSecrets(text)).toBe(text);
  });

  it('hostile text takes no more time than its length', () => {
    const started = performance.now();
    for (const part of [
      '://a:b',
      '://',
      '//a',
      'token',
      'token="',
      "token='\\",
      'a.token-',
      '@://u:',
      '\\"token\\":\\"',
      'Bearer ',
      '-----BEGIN PRIVATE KEY-----',
    ])
      withoutSecrets(`@=${part.repeat(20_000)}`);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

it('the message, the hint and the values of an error hold no part of an address that is secret', () => {
  const error = new ServiceError({
    code: 'A',
    kind: 'invalid',
    message: 'no answer from https://u:canary@host',
    hint: 'look at https://host?token=canary',
    context: { uri: 'redis://:canary@host', token: 'canary', count: 1n },
  });
  expect([error.message, error.hint, error.context]).toEqual([
    'no answer from https://***@host',
    'look at https://host?token=***',
    { uri: 'redis://***@host', token: '***', count: 1n },
  ]);
});
