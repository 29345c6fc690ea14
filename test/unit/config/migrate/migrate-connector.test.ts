import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import { migrateConnector } from '../../../../src/config/migrate/migrate-connector.ts';
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

it.each([...apacheConnectors, ...tabularConnectors, ...deltaConnectors.slice(0, 2)])(
  'no option is dropped in silence: $from',
  ({ text }) => {
    const { yaml } = migrate(text);
    const { config } = JSON.parse(text) as { readonly config: Readonly<Record<string, string>> };
    const untold = Object.keys(config).filter((option) => !yaml.includes(option) && !option.startsWith('transforms'));
    expect(untold).toEqual(['connector.class']);
  },
);

// Work that grew by the square of the length would outlast the limit of every test by far.
it('input of any size and shape is read in time by its length', () => {
  const size = 500_000;
  for (const text of [
    `connector.class=a${' '.repeat(size)}\rx`,
    '${a:'.repeat(size / 4),
    'kafka-delta-ingest ingest t '.repeat(size / 28),
    `{"connector.class":"org.apache.iceberg.connect.IcebergSinkConnector","topics":"t","iceberg.tables":"${'a.b,'.repeat(9)}${Array.from({ length: 50_000 }, (_, index) => `t.${index}`).join(',')}"}`,
    `{"connector.class":"DatabricksDeltaLakeSink","topics":"t","value.converter.schema.registry.url":"${'${a:'.repeat(size / 4)}","input.data.format":"AVRO"}`,
    `{"connector.class":"DatabricksDeltaLakeSink","topics":"t","transforms":"${'a,'.repeat(50_000)}"}`,
    `{"connector.class":"DatabricksDeltaLakeSink","topics":"${Array.from({ length: 50_000 }, (_, index) => `t${index}`).join(',')}"}`,
  ]) {
    try {
      migrateConnector({ text, where: 'hostile' });
    } catch (error) {
      expect(error).toBeInstanceOf(ServiceError);
    }
  }
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
