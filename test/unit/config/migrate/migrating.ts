import { ServiceError } from '../../../../src/base/errors.ts';
import { type MigrateRequest, migrateConnector } from '../../../../src/config/migrate/migrate-connector.ts';
import type { Config } from '../../../../src/config/settings.ts';
import { load } from '../config-support.ts';

export interface Migrated {
  readonly yaml: string;
  readonly config: Config;
  /** Those that the file says are to be set. */
  readonly variables: readonly string[];
}

/** What variables hold, where text alone is refused. */
const values: Readonly<Record<string, string>> = {
  KAFKA_BROKERS: 'k1:9092,k2:9092',
  ICEBERG_REST_URI: 'https://rest.example/catalog',
  ICEBERG_WAREHOUSE: 's3://lake/warehouse',
  SCHEMA_REGISTRY_URL: 'https://registry.example',
  DELTA_TABLES_LOCATION: 's3://lake/tables',
  KAFKA_CA_PEM: '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----',
};

/** Migrates, and loads what comes of it with the variables set that it names at its beginning. */
export function migrate(text: string, more: Partial<MigrateRequest> = {}): Migrated {
  const yaml = migrateConnector({ text, where: 'connect.json', ...more });
  const [, section = ''] = /Variables to set[^\n]*\n((?:# {3}[^\n]*\n)*)/.exec(yaml) ?? [];
  const variables = [...section.matchAll(/^# {3}(\w+):/gm)].map(([, name = '']) => name);
  const env = Object.fromEntries(variables.map((name) => [name, values[name] ?? `value-of-${name}`]));
  return { yaml, config: load({ yaml, env }).config, variables };
}

/** A sink of Iceberg with a REST catalog and these options. */
export function icebergSink(options: Readonly<Record<string, string>>, columns?: MigrateRequest['columns']): Migrated {
  const config = {
    'connector.class': 'org.apache.iceberg.connect.IcebergSinkConnector',
    topics: 'events',
    'iceberg.tables': 'db.events',
    'iceberg.catalog.type': 'rest',
    'iceberg.catalog.uri': 'https://rest',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter.schemas.enable': 'false',
    'errors.tolerance': 'all',
    ...options,
  };
  return migrate(JSON.stringify({ name: 'Events Sink', config }), { brokers: ['k:9092'], columns });
}

export function migrateError(text: string): ServiceError {
  try {
    migrateConnector({ text, where: 'connect.json' });
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new ServiceError({ code: 'TEST_FAILED', kind: 'internal', message: 'it was accepted' });
}
