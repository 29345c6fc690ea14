import { describe, expect, it } from 'vitest';
import { apacheConnectors, deltaConnectors, tabularConnectors } from './documented-connectors.ts';
import { migrate, migrateError } from './migrating.ts';

describe('a documented configuration', () => {
  it.each([...apacheConnectors, ...tabularConnectors, ...deltaConnectors])('becomes one that is accepted: $from', ({ text }) => {
    const { yaml, config } = migrate(text);
    expect(config.ingest.routes.length).toBeGreaterThan(0);
    expect(yaml).not.toMatch(/<credential>|<AWS|dapi-|secret-of|AKIA|key-of-cloud/);
    for (const route of config.ingest.routes)
      if (route.value.kind !== 'letter') expect(route.expect?.map(({ onFailure }) => onFailure)).toEqual(['suspend']);
  });
});

describe('bad input', () => {
  it.each([
    ['', 'CONFIG_CONNECTOR_INVALID', /is empty/],
    ['{"name": ', 'CONFIG_CONNECTOR_INVALID', /connect.json/],
    ['[1]', 'CONFIG_CONNECTOR_INVALID', /no object/],
    ['"text"', 'CONFIG_CONNECTOR_INVALID', /no object/],
    ['{"name":"a","config":7}', 'CONFIG_CONNECTOR_INVALID', /"config" is no object/],
    ['{"connector.class":{}}', 'CONFIG_CONNECTOR_INVALID', /no plain value/],
    ['{"name":"a","config":{"topics":"t"}}', 'CONFIG_CONNECTOR_INVALID', /no connector.class/],
    ['topics=t\n', 'CONFIG_CONNECTOR_INVALID', /no connector.class/],
    ['#'.repeat(1_000_001), 'CONFIG_CONNECTOR_INVALID', /longer than 1000000/],
    ['{"connector.class":"io.debezium.connector.postgresql.PostgresConnector"}', 'CONFIG_CONNECTOR_UNKNOWN', /is a source/],
    ['{"connector.class":"io.confluent.connect.s3.source.S3SourceConnector"}', 'CONFIG_CONNECTOR_UNKNOWN', /is a source/],
    ['{"connector.class":"org.apache.iceberg.connect.IcebergSinkConector"}', 'CONFIG_CONNECTOR_UNKNOWN', /no sink that is known/],
    ['{"connector.class":"constructor"}', 'CONFIG_CONNECTOR_UNKNOWN', /no sink that is known/],
    ['{"connector.class":"org.apache.iceberg.connect.IcebergSinkConnector","topics":"t"}', 'CONFIG_CONNECTOR_INVALID', /iceberg.tables/],
    ['{"connector.class":"org.apache.iceberg.connect.IcebergSinkConnector","iceberg.tables":"a.b"}', 'CONFIG_CONNECTOR_INVALID', /topics/],
    ['{"connector.class":"DatabricksDeltaLakeSink"}', 'CONFIG_CONNECTOR_INVALID', /topics/],
    ['kafka-delta-ingest ingest', 'CONFIG_CONNECTOR_INVALID', /names no topic/],
  ])('%.60s is refused', (text, code, message) => {
    const error = migrateError(text);
    expect([error.code, error.kind]).toEqual([code, 'invalid']);
    expect(error.message).toMatch(message);
    expect(error.hint).toBeTruthy();
  });

  it('names the class that is nearest', () => {
    expect(migrateError('{"connector.class":"org.apache.iceberg.connect.IcebergSinkConector"}').hint).toBe(
      'did you mean org.apache.iceberg.connect.IcebergSinkConnector?',
    );
  });
});
