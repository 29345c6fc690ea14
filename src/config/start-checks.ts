import { isServiceError, type ServiceError } from '../base/errors.ts';
import { formatRules } from '../catalog/formats.ts';
import { checkCatalogSettings } from '../catalog/open-iceberg-catalog.ts';
import { RecordDecoder } from '../ingest/decode/record-decoder.ts';
import { checkLocation } from '../storage/open-object-store.ts';
import type { TableFormat } from '../table/formats.ts';
import type { TableDefinition } from '../table/table.ts';
import { catalogProperties } from './catalog-settings.ts';
import type { ConfigIssue } from './config-issues.ts';
import type { ConfigPath } from './config-node.ts';
import type { Config } from './settings.ts';
import type { TableSettings } from './table-settings.ts';

/**
 * What the parts would refuse when they start, asked of their own rules without connecting to anything, so that a configuration that is
 * accepted also acts.
 */
export function startChecks(config: Config): readonly ConfigIssue[] {
  return [...config.catalogs.flatMap(catalogChecks), ...config.tables.flatMap((table, index) => tableChecks(table, index, config))];
}

/** What a table is created with. */
export function createdWith(format: TableFormat, definition: TableDefinition, { commit }: Pick<Config, 'commit'>): TableDefinition {
  return { ...definition, properties: { ...formatRules[format].defaults(commit.compression), ...definition.properties } };
}

function catalogChecks(catalog: Config['catalogs'][number], index: number): readonly ConfigIssue[] {
  const path = ['catalogs', index];
  const { name, type, warehouse } = catalog;
  return [
    ...refusals(path, () => {
      checkCatalogSettings(name, catalogProperties(catalog));
    }),
    // To a REST server a warehouse is a name.
    ...(type === 'rest' || warehouse === undefined
      ? []
      : refusals([...path, 'warehouse'], () => {
          checkLocation(warehouse);
        })),
  ];
}

function tableChecks(table: TableSettings, index: number, config: Config): readonly ConfigIssue[] {
  const path = ['tables', index];
  const { location, inCatalog, name, format, sources, unknownMembers } = table;
  const definition = createdWith(format, table.definition, config);
  const { schema, partitionColumns } = definition;
  const place =
    inCatalog === undefined
      ? refusals([...path, 'path'], () => {
          checkLocation(location);
        })
      : [];
  const created = refusals(path, () => {
    formatRules[format].check(name, location, definition);
  });
  const route = config.ingest.routes.find((candidate) => candidate.table === name);
  if (route === undefined) return [...place, ...created];
  const decoded = refusals([...path, 'columns'], () => {
    const spec = { sources: [...sources.values()], unknownMembers, value: route.value, key: route.key };
    // Refuses what it cannot decode to when it is made.
    return new RecordDecoder(schema, spec, { maxDepth: config.ingest.maxNestingDepth, partitionColumns });
  });
  return [...place, ...created, ...decoded];
}

function refusals(path: ConfigPath, check: () => unknown): readonly ConfigIssue[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!isServiceError(error, 'invalid') && !isServiceError(error, 'unsupported')) throw error;
    return [issueOf(path, error)];
  }
}

function issueOf(path: ConfigPath, { message, hint }: ServiceError): ConfigIssue {
  return { code: 'CONFIG_INVALID', path, message: hint === undefined ? message : `${message}; ${hint}` };
}
