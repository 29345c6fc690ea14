import { isDeepStrictEqual } from 'node:util';
import { AnalysisException } from '../../base/analysis-exception.ts';
import type { EpochMs } from '../../base/clock.ts';

import type { CatalogView, ViewDefinition } from '../../table/catalog-views.ts';
import { refusedDefinition } from '../definition/definition-errors.ts';
import { idsAfter, structWithIds } from '../definition/field-ids.ts';
import { sameSchema } from '../metadata/definition-draft.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';
import {
  currentSchemaOf,
  currentVersionOf,
  dialectsOf,
  ownDialect,
  sqlOf,
  type ViewMetadata,
  type ViewVersion,
  viewFormatVersion,
} from './view-metadata.ts';
import type { ViewUpdate } from './view-updates.ts';

const queryColumnsKey = 'spark.query-column-names';
const dropDialectKey = 'replace.drop-dialect.allowed';
const commentKey = 'comment';
const createdByKey = 'create_engine_version';
const engineKey = 'engine_version';
/** Keys that show what the metadata says elsewhere. */
const reservedKeys: readonly string[] = ['provider', 'location', 'format-version', queryColumnsKey];
/** Stored, and shown elsewhere than among the properties. */
const unshownKeys: ReadonlySet<string> = new Set([...reservedKeys, commentKey, 'owner', createdByKey, engineKey]);

/** Where the view is that is made, and what it is called for good. */
export interface ViewPlace {
  readonly catalog: string;
  readonly uuid: string;
  readonly location: string;
  readonly nowMs: EpochMs;
}

/** A view made out of nothing (https://iceberg.apache.org/view-spec/). */
export function newView(definition: ViewDefinition, { catalog, uuid, location, nowMs }: ViewPlace): ViewMetadata {
  const schema = schemaOf(definition, 0);
  const version = versionOf(definition, { catalog, versionId: 1, schemaId: 0, nowMs });
  return {
    viewUuid: uuid,
    location: location.replace(/(?<=.)\/+$/, ''),
    properties: propertiesOf(definition),
    schemas: [schema],
    currentVersionId: 1,
    versions: [version],
    versionLog: [{ timestampMs: nowMs, versionId: 1 }],
  };
}

/**
 * Updates that give a view another query: identity, history and the properties that are not given again stay.
 *
 * @throws AnalysisException `ICEBERG_DEFINITION_REFUSED` when the text for another engine would be lost.
 */
export function replacingView(
  base: ViewMetadata,
  definition: ViewDefinition,
  { catalog, nowMs }: Pick<ViewPlace, 'catalog' | 'nowMs'>,
): readonly ViewUpdate[] {
  const updates: ViewUpdate[] = [{ action: 'set-properties', updates: propertiesOf(definition) }];
  const { location } = definition;
  if (location !== undefined && location !== base.location) updates.push({ action: 'set-location', location });
  const nextSchemaId = Math.max(-1, ...base.schemas.map(({ schemaId }) => schemaId)) + 1;
  const wanted = schemaOf(definition, nextSchemaId);
  const schema = base.schemas.find((known) => sameSchema(known, wanted)) ?? wanted;
  if (schema === wanted) updates.push({ action: 'add-schema', schema });
  const nextVersionId = Math.max(0, ...base.versions.map(({ versionId }) => versionId)) + 1;
  const made = versionOf(definition, { catalog, versionId: nextVersionId, schemaId: schema.schemaId, nowMs });
  refuseLostDialects(base, made, { ...base.properties, ...definition.properties });
  const version = base.versions.find((known) => sameVersion(known, made)) ?? made;
  if (version === made) updates.push({ action: 'add-view-version', version });
  if (version.versionId !== base.currentVersionId) updates.push({ action: 'set-current-view-version', versionId: version.versionId });
  return updates;
}

/** @throws AnalysisException `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY` for keys that are no properties. */
export function settingProperties(properties: Readonly<Record<string, string>>): readonly ViewUpdate[] {
  for (const key of Object.keys(properties)) if (reservedKeys.includes(key)) throw reservedKey('set', key);
  return Object.keys(properties).length === 0 ? [] : [{ action: 'set-properties', updates: properties }];
}

/** @throws AnalysisException as `settingProperties`; `UNSET_NONEXISTENT_PROPERTIES` (42K0J) for keys that are not set, unless `ifExists`. */
export function unsettingProperties(
  base: ViewMetadata,
  keys: readonly string[],
  { name, ifExists }: { readonly name: string; readonly ifExists: boolean },
): readonly ViewUpdate[] {
  const present = new Set([...Object.keys(base.properties).filter((key) => key !== queryColumnsKey), ...reservedKeys.slice(0, -1)]);
  const absent = keys.filter((key) => !present.has(key));
  if (absent.length > 0 && !ifExists) throw notSet(name, absent);
  for (const key of keys) if (reservedKeys.includes(key)) throw reservedKey('unset', key);
  const removals = keys.filter((key) => present.has(key));
  return removals.length === 0 ? [] : [{ action: 'remove-properties', removals }];
}

/** A view as sessions see it. @throws AnalysisException `ICEBERG_VIEW_WITHOUT_SQL`. */
export function shownView(view: ViewMetadata, parts: readonly [catalog: string, ...string[]]): CatalogView {
  const [catalog] = parts;
  const version = currentVersionOf(view);
  const text = sqlOf(view);
  const schema = currentSchemaOf(view);
  if (version === undefined || text === undefined || schema === undefined) throw withoutSql(parts.join('.'));
  const { properties } = view;
  const stored = Object.entries(properties).filter(([key]) => !unshownKeys.has(key));
  return {
    parts,
    schema: schema.struct,
    query: text.sql,
    catalog: version.defaultCatalog ?? catalog,
    namespace: version.defaultNamespace,
    queryColumns: properties[queryColumnsKey]?.split(',') ?? [],
    comment: properties[commentKey],
    createdBy: properties[createdByKey],
    properties: {
      ...Object.fromEntries(stored),
      provider: 'iceberg',
      location: view.location,
      'format-version': String(viewFormatVersion),
    },
  };
}

/** Whether a view is what a change whose answer was lost would have made of it. */
export function hasLanded(view: ViewMetadata, updates: readonly ViewUpdate[]): boolean {
  return updates.every((update) => {
    switch (update.action) {
      case 'set-location':
        return view.location === update.location;
      case 'set-properties':
        return Object.entries(update.updates).every(([key, value]) => view.properties[key] === value);
      case 'remove-properties':
        return update.removals.every((key) => !Object.hasOwn(view.properties, key));
      case 'add-schema':
        return view.schemas.some((schema) => sameSchema(schema, update.schema));
      case 'add-view-version':
        return view.versions.some((version) => isVersion(version, update.version));
      case 'set-current-view-version':
        return view.currentVersionId === update.versionId;
    }
  });
}

/** Whether two versions were made at one time and say the same. */
export function isVersion(one: ViewVersion, other: ViewVersion): boolean {
  return one.timestampMs === other.timestampMs && isDeepStrictEqual(one.representations, other.representations);
}

/** Columns are numbered from 0 on, as other implementations number those of views. */
function schemaOf({ schema }: ViewDefinition, schemaId: number): IcebergSchema {
  const fields = schema.fields.map(({ name, type, nullable, metadata }) => {
    const comment = metadata?.['comment'];
    return { name, type, nullable, ...(typeof comment === 'string' ? { metadata: { comment } } : {}) };
  });
  return { schemaId, struct: structWithIds({ kind: 'struct', fields }, idsAfter(-1)), identifierFieldIds: [] };
}

function versionOf(
  { query, catalog: wanted, namespace, engine }: ViewDefinition,
  of: { readonly catalog: string; readonly versionId: number; readonly schemaId: number; readonly nowMs: EpochMs },
): ViewVersion {
  return {
    versionId: of.versionId,
    schemaId: of.schemaId,
    timestampMs: of.nowMs,
    summary: { 'engine-name': engine.name, 'engine-version': engine.version },
    representations: [{ kind: 'sql', sql: query, dialect: ownDialect }],
    defaultCatalog: wanted === of.catalog ? undefined : wanted,
    defaultNamespace: namespace,
  };
}

function propertiesOf({ properties, queryColumns, engine }: ViewDefinition): Readonly<Record<string, string>> {
  const given = Object.entries(properties).filter(([key]) => !reservedKeys.includes(key));
  const by = `${engine.name} ${engine.version}`;
  return { ...Object.fromEntries(given), [createdByKey]: by, [engineKey]: by, [queryColumnsKey]: queryColumns.join(',') };
}

function sameVersion(one: ViewVersion, other: ViewVersion): boolean {
  return (
    one.schemaId === other.schemaId &&
    one.defaultCatalog === other.defaultCatalog &&
    isDeepStrictEqual(one.defaultNamespace, other.defaultNamespace) &&
    isDeepStrictEqual(one.summary, other.summary) &&
    isDeepStrictEqual(one.representations, other.representations)
  );
}

function refuseLostDialects(base: ViewMetadata, next: ViewVersion, properties: Readonly<Record<string, string>>): void {
  const current = currentVersionOf(base);
  if (current === undefined || properties[dropDialectKey]?.toLowerCase() === 'true') return;
  const [previous, made] = [dialectsOf(current), dialectsOf(next)];
  if (previous.every((dialect) => made.includes(dialect))) return;
  throw refusedDefinition(
    `Cannot replace view due to loss of view dialects (${dropDialectKey}=false):\nPrevious dialects: [${previous.join(', ')}]\nNew dialects: [${made.join(', ')}]`,
    `TBLPROPERTIES ('${dropDialectKey}' = 'true') lets the other texts go`,
  );
}

function reservedKey(verb: 'set' | 'unset', key: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY',
    kind: 'unsupported',
    message: `Cannot ${verb} reserved property: '${key}'`,
    parameters: { property: key },
    hint: 'it follows from the view itself',
  });
}

function notSet(name: string, keys: readonly string[]): AnalysisException {
  const shown = keys.map((key) => `'${key}'`).join(', ');
  return new AnalysisException({
    errorClass: 'UNSET_NONEXISTENT_PROPERTIES',
    message: `Cannot remove property that is not set: ${shown}`,
    parameters: { properties: shown, table: name },
    hint: 'UNSET TBLPROPERTIES IF EXISTS tolerates absence',
  });
}

function withoutSql(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'ICEBERG_VIEW_WITHOUT_SQL',
    kind: 'unsupported',
    message: `Cannot load SQL for view ${name}`,
    hint: 'its current version has no representation of type sql; read it with the engine that made it',
    parameters: { viewName: name },
  });
}
