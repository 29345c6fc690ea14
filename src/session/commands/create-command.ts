import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeType } from '../../schema/describe-type.ts';
import { requiredWithin } from '../../schema/type-tree.ts';
import type { StructType } from '../../schema/types.ts';
import { type TableFormat, traitsOf } from '../../table/formats.ts';
import type { PartitionFieldDefinition } from '../../table/partitioning/transform.ts';
import type { Relation } from '../../table/relation.ts';
import type { CreateRequest, CreateResult } from '../../table/table-formats.ts';
import type { TableReference } from '../plan/plan.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { pathExists, pathNotFound } from '../session-errors.ts';
import { defaultProperties, WriteOptions } from '../write/write-options.ts';
import { partitionedAs } from './partitioned-as.ts';
import { commitOptionsOf } from './row-commands.ts';

export interface CreateTableRequest {
  readonly reference: TableReference;
  readonly mode: CreateRequest['mode'];
  readonly format: TableFormat;
  /** As the user gave it; the catalog chooses when absent. */
  readonly location: string | undefined;
  readonly comment: string | undefined;
  readonly schema: StructType;
  readonly partitioning: readonly PartitionFieldDefinition[];
  readonly clusterBy: readonly (readonly string[])[];
  readonly properties: Readonly<Record<string, string>>;
  readonly rows?: Relation | undefined;
  /** SQL, whose refusals have names of their own. */
  readonly byStatement?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** CREATE TABLE and its kin, by name or by path. @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS`, `DELTA_NESTED_NOT_NULL_CONSTRAINT` … */
export async function createTableCommand(runtime: SessionRuntime, request: CreateTableRequest): Promise<CreateResult> {
  const { reference, mode, format, signal } = request;
  if (request.rows === undefined) refuseRequired(format, request.schema);
  const common = {
    ...commitOptionsOf({ runtime, signal }),
    ...new WriteOptions([]).fileOptions(runtime.conf),
    mode,
    comment: request.comment,
    definition: {
      schema: request.schema,
      ...partitionedAs(request.format, request.partitioning, request.schema),
      properties: { ...defaultProperties(runtime.conf), ...request.properties },
    },
    clusterBy: request.clusterBy.length === 0 ? undefined : request.clusterBy,
    rows: request.rows,
  };
  if (reference.kind === 'name') {
    const { catalog, ident } = runtime.tables.resolve(reference.parts);
    const location = request.location === undefined ? undefined : runtime.tables.absolutePath(request.location);
    if (location !== undefined) runtime.tables.forget(location);
    return catalog.create(ident, { ...common, format, location });
  }
  const location = runtime.tables.absolutePath(reference.path);
  const existing = await runtime.tables.find(reference, signal);
  if (existing !== undefined && mode === 'create') throw request.byStatement === true ? alreadyExists(reference) : pathExists(location);
  if (existing === undefined && mode === 'replace') throw pathNotFound(location);
  const result = await runtime.tables.driver(format).createTable({ ...common, name: location, location });
  runtime.tables.forget(location);
  return result;
}

/** Nobody would hold rows to it. */
function refuseRequired(format: TableFormat, schema: StructType): void {
  const found = traitsOf[format].requiredWithin ? undefined : requiredWithin(schema);
  if (found === undefined) return;
  const [parent, nestType] = [found.path.join('.'), found.part];
  throw new AnalysisException({
    errorClass: 'DELTA_NESTED_NOT_NULL_CONSTRAINT',
    message: `The ${nestType} type of the field ${parent} contains a NOT NULL constraint. Delta does not support NOT NULL constraints nested within arrays or maps.`,
    parameters: { nestType, parent, type: describeType(schema) },
    hint: `leave NOT NULL out, and add a CHECK constraint on ${parent}`,
  });
}

function alreadyExists({ format, path }: { readonly format: string; readonly path: string }): AnalysisException {
  const relationName = `\`${format}\`.\`${path}\``;
  return new AnalysisException({
    errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    alias: 'DELTA_PATH_EXISTS',
    message: `Cannot create table or view ${relationName} because it already exists.`,
    parameters: { relationName },
    hint: 'use CREATE TABLE IF NOT EXISTS, or CREATE OR REPLACE TABLE',
  });
}
