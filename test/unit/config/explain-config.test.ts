import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { printJson } from '../../../src/base/bigint-json.ts';
import { explainConfig, printConfig, redactConfig } from '../../../src/config/explain-config.ts';
import { load } from './config-support.ts';

const secret = 'hunter2';
const secured = {
  yaml: `
pipeline: demo
kafka: { sasl: { username: u, password: "\${PW}" }, ssl: { cert: "-----BEGIN CERTIFICATE-----", key: "\${PW}", passphrase: "\${PW}" } }
redis: { url: "redis://:\${PW}@host" }
`,
  env: { PW: secret },
};

describe('secrets', () => {
  it('reach the client', () => {
    const { config } = load(secured);
    expect(config.kafka.sasl?.password.reveal()).toBe(secret);
    expect(config.redis.url?.reveal()).toBe(`redis://:${secret}@host`);
  });

  it('are printed nowhere', () => {
    const loaded = load(secured);
    const printed = [
      printConfig(loaded),
      printJson(redactConfig(loaded)),
      printJson(explainConfig(loaded).map(({ path, value, source, description }) => ({ path, value, source, description }))),
      inspect(loaded.config, { depth: 10 }),
      String(loaded.config.kafka.sasl?.password),
    ].join('\n');
    expect(printed).not.toContain(secret);
    expect(printConfig(loaded)).toContain('password: "***"');
  });

  it('an empty one is shown as empty', () => {
    expect(redactConfig(load({ yaml: 'pipeline: demo\nredis: { url: "${REDIS_URL:-}" }' }))).toMatchObject({ redis: { url: '' } });
  });
});

describe('the settings in effect', () => {
  it('each has a source', () => {
    const loaded = load({
      yaml: 'pipeline: demo\nserver:\n  port: 1\n',
      env: { TIDEWATER__ingest__workers: '4' },
      overrides: ['logging.level=debug'],
    });
    const explained = new Map(explainConfig(loaded).map(({ path, value, source }) => [path, [value, source]]));
    expect(explained.get('pipeline')).toEqual(['demo', 'a.yaml:1:11']);
    expect(explained.get('server.port')).toEqual([1, 'a.yaml:3:9']);
    expect(explained.get('ingest.workers')).toEqual([4, 'environment TIDEWATER__ingest__workers']);
    expect(explained.get('logging.level')).toEqual(['debug', '--set logging.level']);
    expect(explained.get('server.host')).toEqual(['127.0.0.1', 'default']);
    expect(explained.get('feedDefaults.start')).toEqual(['snapshot', 'default']);
  });

  it('what is printed loads to the same configuration', () => {
    const loaded = load({
      yaml: `
pipeline: demo
tables: [{ name: t, columns: [{ name: a, type: "map<string,long>" }, { name: k, type: binary, from: key }], properties: { delta.enableChangeDataFeed: true } }]
ingest: { routes: [{ topics: t, table: t }], maxBatchAge: 3s }
feeds: [{ table: t, start: { version: 2 } }]
`,
      env: { TIDEWATER__ingest__workers: '4' },
    });
    expect(load({ yaml: printConfig(loaded) }).config).toEqual(loaded.config);
  });
});
