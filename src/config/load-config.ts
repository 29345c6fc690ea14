import { isAbsolute, resolve } from 'node:path';
import { serviceError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { completeFeed } from '../cdf/settings.ts';
import { completeIngest } from '../ingest/settings.ts';
import { completeMaintenance } from '../maintenance/settings.ts';
import { configError, issuesOf } from './config-issues.ts';
import { type ConfigNode, mergeNodes, plainValue } from './config-node.ts';
import { crossChecks } from './cross-checks.ts';
import { configJsonSchema } from './json-schema.ts';
import { applyOverride, environmentOverrides, parseOverride } from './overrides.ts';
import { type Config, type ConfigEntry, configFile } from './settings.ts';
import { startChecks } from './start-checks.ts';
import type { TableSettings } from './table-settings.ts';
import { withTombstoneTables } from './tombstone-tables.ts';
import { readYaml } from './yaml-source.ts';

export interface ConfigRequest {
  /** YAML files; later ones win key by key. */
  readonly files: readonly string[];
  /** For `${NAME}` references and `TIDEWATER__a__b` overrides, which win over files. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `a.b=value` each, as given to `--set`; they win over all else. */
  readonly overrides?: readonly string[] | undefined;
  /** Absolute; relative `dataDir` and files are resolved against it. */
  readonly workingDir: string;
  /** Reads a text file whole; throws when it cannot. */
  readonly readText: (path: string) => string;
}

/** A configuration and how it came about. */
export interface LoadedConfig {
  readonly config: Config;
  /** What was written, merged, with the origin of each value; without defaults. */
  readonly written: ConfigNode;
}

/**
 * Reads, merges, checks and completes the configuration. The result is frozen.
 *
 * @throws ServiceError (kind invalid) `CONFIG_FILE_UNREADABLE`, `CONFIG_YAML_INVALID`, `CONFIG_VARIABLE_UNSET`, `CONFIG_OVERRIDE_INVALID`,
 * `CONFIG_UNKNOWN_KEY`, `CONFIG_MISSING_KEY` or `CONFIG_INVALID`; the message has a line for each problem with file, line and column.
 */
export function loadConfig(request: ConfigRequest): LoadedConfig {
  const schema = configJsonSchema();
  const overrides = [...environmentOverrides(request.env), ...(request.overrides ?? []).map(parseOverride)];
  const empty: ConfigNode = { kind: 'map', entries: new Map(), origin: { source: request.files[0] ?? 'configuration' } };
  const files = request.files.map((file) => readFile(file, request)).reduce(mergeNodes, empty);
  const written = overrides.reduce((tree, override) => applyOverride(tree, override, schema), files);
  const parsed = configFile.safeParse(plainValue(written));
  if (!parsed.success) throw configError(issuesOf(parsed.error, written, schema), written);
  const config = complete(parsed.data, request.workingDir);
  const issues = [...crossChecks(config), ...startChecks(config)];
  if (issues.length > 0) throw configError(issues, written);
  return { config: deepFreeze(config), written };
}

function readFile(file: string, request: ConfigRequest): ConfigNode {
  const path = resolve(request.workingDir, file);
  let text: string;
  try {
    text = request.readText(path);
  } catch (cause) {
    throw serviceError.invalid(
      'CONFIG_FILE_UNREADABLE',
      `configuration file ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { hint: 'give the file with --config', cause },
    );
  }
  const readText = (referenced: string): string => request.readText(resolve(request.workingDir, referenced));
  return readYaml(text, { source: file, substitutions: { env: request.env, readText } });
}

function complete(entry: ConfigEntry, workingDir: string): Config {
  const { feedDefaults, feeds, ...rest } = entry;
  const dataDir = resolve(workingDir, entry.dataDir);
  return {
    ...rest,
    dataDir,
    catalogs: entry.catalogs.map((catalog) =>
      catalog.type === 'rest' || catalog.warehouse === undefined
        ? catalog
        : { ...catalog, warehouse: resolveLocation(catalog.warehouse, dataDir) },
    ),
    tables: withTombstoneTables(entry.tables).map((table) => ({
      ...asItsLeader(table, entry.tables),
      location: table.inCatalog === undefined ? resolveLocation(table.location, dataDir) : table.location,
    })),
    ingest: completeIngest(entry.ingest, entry.pipeline, {
      keyed: new Set(entry.tables.flatMap(({ name, keyed }) => (keyed === undefined ? [] : [name]))),
    }),
    maintenance: completeMaintenance(entry.maintenance, entry.pipeline),
    feeds: feeds.map((feed) => completeFeed(feed, feedDefaults)),
    feedSessionTimeoutMs: feedDefaults.sessionTimeoutMs,
    positionsTopic: feedDefaults.positionsTopic ?? `${feedDefaults.topicPrefix}._positions`,
  };
}

/** A twin has the columns of the table that it shows. */
function asItsLeader(table: TableSettings, tables: readonly TableSettings[]): TableSettings {
  const leader = table.twinOf === undefined ? undefined : tables.find(({ name }) => name === table.twinOf);
  if (leader === undefined) return table;
  return { ...table, sources: leader.sources, definition: { ...leader.definition, properties: table.definition.properties } };
}

function resolveLocation(location: string, dataDir: string): string {
  const hasScheme = /^[a-z][a-z0-9+.-]+:/i.test(location);
  return hasScheme || isAbsolute(location) ? location : resolve(dataDir, location);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Secret || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
