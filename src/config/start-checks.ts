import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import { formatRules } from '../catalog/formats.ts';
import { checkCatalogSettings } from '../catalog/open-iceberg-catalog.ts';
import { schemaOfColumns } from '../ingest/column-settings.ts';
import { RecordDecoder } from '../ingest/decode/record-decoder.ts';
import { keyedDecoding } from '../ingest/keyed/deleted-keys.ts';
import { type RouteSettings, sharedPlace } from '../ingest/settings.ts';
import { compileTransform } from '../ingest/transform/compile-transform.ts';
import { isTransform } from '../ingest/transform/transform-settings.ts';
import { duplicateColumn } from '../schema/duplicate-column.ts';
import type { StructType } from '../schema/types.ts';
import { checkLocation } from '../storage/open-object-store.ts';
import type { TableDefinition } from '../table/table.ts';
import { catalogProperties } from './catalog-settings.ts';
import type { ConfigIssue } from './config-issues.ts';
import type { ConfigPath } from './config-node.ts';
import { keyedSettingsOf } from './keyed-settings.ts';
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
export function createdWith(
  { format, definition, evolve, keyed }: Pick<TableSettings, 'format' | 'definition' | 'evolve' | 'keyed'>,
  { commit }: Pick<Config, 'commit'>,
): TableDefinition {
  return {
    ...definition,
    properties: {
      ...formatRules[format].defaults({ compression: commit.compression, evolve, keyed: keyed !== undefined }),
      ...definition.properties,
    },
  };
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
  const { location, inCatalog, name, format } = table;
  const definition = createdWith(table, config);
  const { schema } = definition;
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
  return [...place, ...created, ...evolutionChecks(table, route, [...path, 'evolve']), ...routeChecks(table, schema, config, route)];
}

/** What has no members that could become columns. */
const fixedFormats: ReadonlySet<RouteSettings['value']['kind']> = new Set(['csv', 'string', 'bytes', 'letter']);

/** Records that cannot change their table. */
function evolutionChecks({ evolve }: TableSettings, { value, select, columns }: RouteSettings, path: ConfigPath): readonly ConfigIssue[] {
  if (evolve === undefined) return [];
  const fixed = select === undefined ? (columns === undefined ? undefined : 'columns') : 'select';
  if (fixed !== undefined)
    return [
      { code: 'CONFIG_INVALID', path, message: `the \`${fixed}\` of its route says what columns there are; leave one of the two out` },
    ];
  if (!fixedFormats.has(value.kind)) return [];
  return [{ code: 'CONFIG_INVALID', path, message: `payloads of format ${value.kind} have no members that could become columns` }];
}

/** What becomes of the records of a table's route. */
function routeChecks(
  { definition, sources, unknownMembers, keyed }: TableSettings,
  schema: StructType,
  config: Config,
  route: RouteSettings,
): readonly ConfigIssue[] {
  const path = ['ingest', ...route.at];
  const { columns, value, key } = route;
  const record = columns === undefined ? schema : schemaOfColumns(columns);
  const spec = { sources: columns?.map(({ source }) => source) ?? [...sources.values()], unknownMembers, value, key };
  const partitionColumns = isTransform(route) ? [] : definition.partitionColumns;
  const columnsPath =
    columns === undefined ? ['tables', config.tables.findIndex(({ name }) => name === route.table), 'columns'] : [...path, 'columns'];
  const placeOf = ({ code }: ServiceError): ConfigPath => (schemaFaults.has(code) ? schemaPlace(route) : columnsPath);
  const decoded = refusals(placeOf, () => {
    const twice = columns === undefined ? undefined : duplicateColumn(record);
    if (twice !== undefined) throw serviceError.invalid('CONFIG_INVALID', `a second column is called "${twice}"`);
    // Refuses what it cannot decode to when it is made.
    return new RecordDecoder(record, spec, { maxDepth: config.ingest.maxNestingDepth, partitionColumns });
  });
  if (decoded.length > 0) return decoded;
  const { spec: transform, problems } = compileTransform(route, { record, table: schema, declared: true });
  if (problems.length > 0 && isTransform(route))
    return problems.map((problem) => ({ code: 'CONFIG_INVALID', path: [...path, ...problem.path], message: problem.message }));
  if (keyed === undefined) return [];
  return refusals(['tables', config.tables.findIndex(({ name }) => name === route.table), 'deleteWhen'], () =>
    keyedDecoding(isTransform(route) ? { ...spec, transform } : spec, keyedSettingsOf(keyed, route), schema),
  );
}

const schemaFaults: ReadonlySet<string> = new Set(['AVRO_SCHEMA_INVALID', 'AVRO_UNSUPPORTED', 'PROTOBUF_SCHEMA_INVALID']);

/** Where the schema is that payloads are read by; of two nobody knows which it is. */
function schemaPlace(route: RouteSettings): ConfigPath {
  const { value, key } = route;
  const [has, hasKey] = [value, key].map((encoding) => encoding !== undefined && ('schema' in encoding || 'reader' in encoding));
  const shared = ['ingest', ...sharedPlace(route)];
  return has === hasKey ? shared : [...shared, has === true ? 'value' : 'key'];
}

function refusals(path: ConfigPath | ((error: ServiceError) => ConfigPath), check: () => unknown): readonly ConfigIssue[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!isServiceError(error, 'invalid') && !isServiceError(error, 'unsupported')) throw error;
    return [issueOf(typeof path === 'function' ? path(error) : path, error)];
  }
}

function issueOf(path: ConfigPath, { message, hint }: ServiceError): ConfigIssue {
  return { code: 'CONFIG_INVALID', path, message: hint === undefined ? message : `${message}; ${hint}` };
}
