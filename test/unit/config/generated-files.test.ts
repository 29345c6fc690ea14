import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonValue, printJson } from '../../../src/base/bigint-json.ts';
import { configJsonSchema, printConfigSchema } from '../../../src/config/json-schema.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { configReferenceMarkdown, defaultConfigYaml } from '../../support/config-reference.ts';
import { expectFresh } from '../../support/generated-page.ts';
import { load } from './config-support.ts';

const root = resolve(import.meta.dirname, '../../..');

describe('files made from the schema are fresh', () => {
  it('config/config.schema.json', () => {
    expectFresh('config/config.schema.json', printConfigSchema());
  });

  it('config/default.yaml', () => {
    expectFresh('config/default.yaml', defaultConfigYaml());
  });

  it('docs/reference/configuration.md', () => {
    expectFresh('docs/reference/configuration.md', configReferenceMarkdown());
  });
});

describe('the schema', () => {
  it('describes every setting', () => {
    const undescribed: string[] = [];
    const visit = (schema: JsonValue | undefined, path: string): void => {
      if (!isJsonObject(schema)) return;
      const { properties, items, anyOf } = schema;
      for (const [key, member = null] of Object.entries(isJsonObject(properties) ? properties : {})) {
        if (!printJson(member).includes('"description"')) undescribed.push(`${path}.${key}`);
        visit(member, `${path}.${key}`);
      }
      visit(items, `${path}[]`);
      const alternatives: readonly JsonValue[] = Array.isArray(anyOf) ? anyOf : [];
      for (const alternative of alternatives) visit(alternative, path);
    };
    visit(configJsonSchema(), '');
    expect(undescribed).toEqual([]);
  });

  it('default.yaml says what the defaults are', () => {
    const withDefaults = load({ files: { 'default.yaml': defaultConfigYaml() }, overrides: ['pipeline=demo'] }).config;
    expect(withDefaults).toEqual(load({ yaml: 'pipeline: demo' }).config);
  });
});

describe('shipped files', () => {
  const readText = (path: string): string => (path.startsWith('/etc/') ? '-----BEGIN CERTIFICATE-----' : readFileSync(path, 'utf8'));

  it('config/development.yaml loads with nothing set', () => {
    const { config } = loadConfig({ files: ['config/development.yaml'], env: {}, workingDir: root, readText });
    expect(config.kafka.brokers).toEqual([]);
    expect(config.feeds.map(({ topic }) => topic)).toEqual(['cdf.flights']);
    expect(config.tables[0]?.definition.properties).toEqual({ 'delta.enableChangeDataFeed': 'true' });
  });

  it('config/production.example.yaml loads with its variables set', () => {
    const env = { KAFKA_BROKERS: 'k1:9093,k2:9093', KAFKA_USERNAME: 'u', REDIS_URL: 'rediss://r:6379' };
    const { config } = loadConfig({ files: ['config/production.example.yaml'], env, workingDir: root, readText });
    expect(config.kafka).toMatchObject({ brokers: ['k1:9093', 'k2:9093'], sasl: { mechanism: 'scram-sha-512', username: 'u' } });
    expect(config.feeds[0]?.topicConfig).toEqual({ 'cleanup.policy': 'compact,delete', 'retention.ms': '604800000' });
  });

  it('every shipped file points editors to the schema', () => {
    for (const name of ['default', 'development', 'production.example']) {
      expect(readFileSync(resolve(root, `config/${name}.yaml`), 'utf8').split('\n')[0]).toBe(
        '# yaml-language-server: $schema=./config.schema.json',
      );
    }
  });
});
