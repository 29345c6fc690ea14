import { AnalysisException } from '../base/analysis-exception.ts';
import { isJsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { Field, StructType } from '../schema/types.ts';
import type { DomainMetadataAction } from './actions.ts';
import { physicalName } from './column-mapping/physical-schema.ts';

/** Column paths, in order. */
export type ClusteringColumns = readonly (readonly string[])[];

export const clusteringDomainName = 'delta.clustering';
/** Columns a table can be clustered by at most, as other engines have it. */
const maxColumns = 4;

/**
 * The domain that says by which columns a table is clustered; files and statistics know them by physical name.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` (42703), `DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS` (54000),
 * `DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED` (0A000).
 */
export function clusteringDomain(schema: StructType, columns: ClusteringColumns, mapped: boolean): DomainMetadataAction {
  if (columns.length > maxColumns) throw tooMany(columns.length);
  const clusteringColumns = columns.map((path) => {
    const fields = fieldsAlong(schema, path);
    const leaf = fields.at(-1);
    if (leaf === undefined || !['struct', 'list', 'map', 'binary', 'boolean'].includes(leaf.type.kind)) {
      return fields.map((field) => (mapped ? physicalName(field) : field.name));
    }
    throw unfit(path, leaf.type.kind);
  });
  return {
    kind: 'domainMetadata',
    domain: clusteringDomainName,
    configuration: printJson({ clusteringColumns, domainName: clusteringDomainName }),
    removed: false,
  };
}

/** The columns a table is clustered by, as users know them; none when it is not or the domain cannot be read. */
export function clusteringColumnsOf(schema: StructType, domains: Iterable<DomainMetadataAction>): ClusteringColumns {
  for (const { domain, configuration } of domains) {
    if (domain === clusteringDomainName) return storedColumns(configuration).map((path) => logicalPath(schema, path));
  }
  return [];
}

function storedColumns(configuration: string): ClusteringColumns {
  try {
    const value = parseJson(configuration, clusteringDomainName);
    const columns = isJsonObject(value) ? value['clusteringColumns'] : undefined;
    if (!Array.isArray(columns)) return [];
    return columns.map((path: JsonValue) => (Array.isArray(path) ? path.filter((part: JsonValue) => typeof part === 'string') : []));
  } catch (error) {
    // Only a hint for layouts: rows are right without it.
    if (isServiceError(error, 'corrupt')) return [];
    throw error;
  }
}

function logicalPath(schema: StructType, path: readonly string[]): readonly string[] {
  let fields: readonly Field[] = schema.fields;
  return path.map((part) => {
    const field = fields.find((candidate) => physicalName(candidate) === part);
    fields = field?.type.kind === 'struct' ? field.type.fields : [];
    return field?.name ?? part;
  });
}

function fieldsAlong(schema: StructType, path: readonly string[]): readonly Field[] {
  let fields: readonly Field[] = schema.fields;
  return path.map((part) => {
    const field = fields.find((candidate) => candidate.name.toLowerCase() === part.toLowerCase());
    if (field === undefined) throw unknownColumn(path, fields);
    fields = field.type.kind === 'struct' ? field.type.fields : [];
    return field;
  });
}

function unknownColumn(path: readonly string[], siblings: readonly Field[]): AnalysisException {
  const name = path.join('.');
  const near = nearestName(
    path.at(-1) ?? '',
    siblings.map((field) => field.name),
  );
  return new AnalysisException({
    errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
    message:
      `A column, variable, or function parameter with name \`${name}\` cannot be resolved. Did you mean one of the following? ` +
      `[${siblings.map((field) => `\`${field.name}\``).join(', ')}].`,
    parameters: { objectName: `\`${name}\``, proposal: siblings.map((field) => `\`${field.name}\``).join(', ') },
    hint: near === undefined ? undefined : `did you mean "${near}"?`,
  });
}

function tooMany(count: number): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS',
    message: `CLUSTER BY supports up to ${maxColumns} clustering columns, but the table has ${count} clustering columns.`,
    parameters: { numColumnsLimit: String(maxColumns), actualNumColumns: String(count) },
    hint: 'name the columns that queries filter by most',
  });
}

function unfit(path: readonly string[], type: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED',
    message: `CLUSTER BY is not supported because the following column(s): ${path.join('.')} : ${type} don't support data skipping.`,
    parameters: { columnsWithDataTypes: `${path.join('.')} : ${type}` },
    hint: 'cluster by columns of numbers, text, dates or times',
  });
}
