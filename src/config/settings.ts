import { z } from 'zod';
import type { Secret } from '../base/secret.ts';
import { secretField, textField } from '../base/setting-fields.ts';
import { type FeedDefaults, type FeedEntry, type FeedSettings, feedDefaults, feedList } from '../cdf/settings.ts';
import { type CommitSettings, commitSettings } from '../commit/settings.ts';
import { type IngestEntry, type IngestSettings, ingestSettings } from '../ingest/settings.ts';
import { type KafkaSettings, kafkaSettings } from '../kafka/settings.ts';
import { type MaintenanceEntry, type MaintenanceSettings, maintenanceSettings } from '../maintenance/settings.ts';
import { type LoggingSettings, loggingSettings } from '../observability/settings.ts';
import { type RegistrySettings, registrySettings } from '../registry/settings.ts';
import { type CatalogSettings, catalogList } from './catalog-settings.ts';
import { type ServerSettings, serverSettings } from './server-settings.ts';
import { type TableSettings, tableList } from './table-settings.ts';

export interface RedisSettings {
  /** `redis://` or `rediss://`, a secret since it may hold a password; `undefined`: the embedded server. */
  readonly url: Secret | undefined;
}

/** The whole configuration: checked, complete, frozen. Times are milliseconds, sizes bytes, paths absolute. */
export interface Config {
  /** Stable name of this pipeline; part of progress marks, consumer groups and transactional ids. */
  readonly pipeline: string;
  readonly dataDir: string;
  readonly kafka: KafkaSettings;
  readonly redis: RedisSettings;
  /** `undefined`: there is none. */
  readonly schemaRegistry?: RegistrySettings | undefined;
  readonly catalogs: readonly CatalogSettings[];
  readonly tables: readonly TableSettings[];
  readonly ingest: IngestSettings;
  readonly commit: CommitSettings;
  readonly feeds: readonly FeedSettings[];
  /** Topic of the positions of all feeds. */
  readonly positionsTopic: string;
  /** How long a replica that is not heard keeps its feeds. */
  readonly feedSessionTimeoutMs: number;
  readonly maintenance: MaintenanceSettings;
  readonly server: ServerSettings;
  readonly logging: LoggingSettings;
}

/** The configuration as the file has it: names that depend on other settings are not yet filled in. */
export interface ConfigEntry extends Omit<Config, 'ingest' | 'feeds' | 'positionsTopic' | 'feedSessionTimeoutMs' | 'maintenance'> {
  readonly ingest: IngestEntry;
  readonly feeds: readonly FeedEntry[];
  readonly feedDefaults: FeedDefaults;
  readonly maintenance: MaintenanceEntry;
}

const redisSettings: z.ZodType<RedisSettings> = z
  .strictObject({
    url: secretField({
      description: 'redis://[user:password@]host:port[/db], rediss:// for TLS. Empty: a private server is started (embedded).',
    }).optional(),
  })
  .transform(({ url }, context) => {
    const text = url?.reveal() ?? '';
    if (text !== '' && !/^rediss?:\/\/\S+$/.test(text)) {
      context.addIssue({ code: 'custom', path: ['url'], message: 'must start with redis:// or rediss://' });
    }
    return { url: text === '' ? undefined : url };
  });

/** The schema of the configuration file; the JSON Schema, the default file and the reference page are made from it. */
export const configFile: z.ZodType<ConfigEntry> = z.strictObject({
  pipeline: textField({
    description:
      'Stable name of this pipeline. It is part of the progress stored in the tables, of consumer groups and transactional ids: renaming it starts a different pipeline.',
    maxLength: 63,
    pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
    patternHint: 'is no pipeline name (lower case letters, digits and inner hyphens)',
  }),
  dataDir: textField({
    description: 'Directory of relative table paths and of the embedded servers, relative to the working directory.',
    default: '.tidewater',
    maxLength: 4_096,
    // The embedded servers and the engine's spill are files; tables have their own paths.
    pattern: /^(?![a-zA-Z][a-zA-Z0-9+.-]+:)/,
    patternHint: 'is a URI; dataDir is a directory of this machine, and a table in a store has its path: s3://…',
  }),
  kafka: kafkaSettings.prefault({}).meta({ description: 'The Kafka cluster.' }),
  redis: redisSettings.prefault({}).meta({ description: 'The Redis that holds the maintenance queues.' }),
  schemaRegistry: registrySettings
    .optional()
    .meta({ description: 'The registry that has the schemas of payloads (Confluent, Apicurio, Karapace).' }),
  catalogs: catalogList,
  tables: tableList,
  ingest: ingestSettings.prefault({}).meta({ description: 'From topics to tables.' }),
  commit: commitSettings.prefault({}).meta({ description: 'How batches become table versions.' }),
  feeds: feedList,
  feedDefaults: feedDefaults.prefault({}).meta({ description: 'What feeds take over when they say nothing themselves.' }),
  maintenance: maintenanceSettings.prefault({}).meta({ description: 'Compaction, vacuum and log checkpoints, from queues.' }),
  server: serverSettings.prefault({}).meta({ description: 'HTTP: probes, metrics, status.' }),
  logging: loggingSettings.prefault({}).meta({ description: 'The log on standard error.' }),
});
