import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../../base/bigint-json.ts';
import { compress } from '../../codec/compression.ts';
import { JsonMembers } from '../metadata/json-members.ts';
import { metadataJson } from '../metadata/metadata-json.ts';
import { schemaFromJson, schemaToJson } from '../metadata/schema-json.ts';
import { invalidMetadata, unsupportedFormatVersion } from '../metadata/spec-errors.ts';
import type { MetadataCodec } from '../pointer/metadata-names.ts';
import {
  currentSchemaOf,
  currentVersionOf,
  type ViewMetadata,
  type ViewRepresentation,
  type ViewVersion,
  viewFormatVersion,
} from './view-metadata.ts';

/** A view's metadata is text that people wrote, a few versions of it. */
const maxViewBytes = 64 * 1024 * 1024;

/**
 * The view in a metadata file, packed with gzip or plain. `location` names the file in errors.
 *
 * @throws ServiceError `ICEBERG_METADATA_INVALID`, `JSON_INVALID` (kind corrupt); `ICEBERG_FORMAT_VERSION_UNSUPPORTED`,
 *   `ICEBERG_TYPE_UNSUPPORTED` (kind unsupported).
 */
export function readViewMetadata(bytes: Uint8Array, location: string): ViewMetadata {
  if (bytes.byteLength > maxViewBytes) throw invalidMetadata(location, `the metadata of a view has ${bytes.byteLength} bytes`);
  return viewFromJson(metadataJson(bytes, location, maxViewBytes), location);
}

/** As `readViewMetadata`, of JSON that was parsed already. */
export function viewFromJson(json: JsonValue | undefined, where: string): ViewMetadata {
  const members = new JsonMembers(json, where);
  const formatVersion = members.int('format-version');
  if (formatVersion !== viewFormatVersion) throw unsupportedFormatVersion(where, formatVersion, 'views of format version 1 are read');
  const view: ViewMetadata = {
    viewUuid: members.text('view-uuid'),
    location: members.text('location'),
    properties: members.optionalTextMap('properties') ?? {},
    schemas: members.list('schemas').map((schema) => schemaFromJson(schema, where)),
    currentVersionId: members.int('current-version-id'),
    versions: members.list('versions').map((version) => versionFromJson(version, where)),
    versionLog: members.list('version-log').map((entry) => {
      const of = new JsonMembers(entry, `${where}: version log`);
      return { timestampMs: of.safeLong('timestamp-ms'), versionId: of.int('version-id') };
    }),
  };
  const version = currentVersionOf(view);
  if (version === undefined) throw invalidMetadata(where, `cannot find current version ${view.currentVersionId} in view versions`);
  if (currentSchemaOf(view) === undefined)
    throw invalidMetadata(where, `cannot find current schema with id ${version.schemaId} in schemas`);
  return view;
}

export function viewToJson(view: ViewMetadata): JsonObject {
  return {
    'view-uuid': view.viewUuid,
    'format-version': viewFormatVersion,
    location: view.location,
    ...(Object.keys(view.properties).length === 0 ? {} : { properties: view.properties }),
    schemas: view.schemas.map(schemaToJson),
    'current-version-id': view.currentVersionId,
    versions: view.versions.map(versionToJson),
    'version-log': view.versionLog.map(({ timestampMs, versionId }) => ({ 'timestamp-ms': timestampMs, 'version-id': versionId })),
  };
}

/** The bytes of a metadata file. */
export async function viewBytes(view: ViewMetadata, codec: MetadataCodec): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(printJson(viewToJson(view)));
  return codec === 'gzip' ? await compress('gzip', bytes) : bytes;
}

/** A version as the REST protocol has it too. */
export function versionToJson(version: ViewVersion): JsonObject {
  const { defaultCatalog } = version;
  return {
    'version-id': version.versionId,
    'timestamp-ms': version.timestampMs,
    'schema-id': version.schemaId,
    summary: version.summary,
    ...(defaultCatalog === undefined ? {} : { 'default-catalog': defaultCatalog }),
    'default-namespace': version.defaultNamespace,
    representations: version.representations.map((each) =>
      each.kind === 'sql' ? { type: 'sql', sql: each.sql, dialect: each.dialect } : each.json,
    ),
  };
}

function versionFromJson(json: JsonValue, where: string): ViewVersion {
  const members = new JsonMembers(json, `${where}: view version`);
  return {
    versionId: members.int('version-id'),
    schemaId: members.int('schema-id'),
    timestampMs: members.safeLong('timestamp-ms'),
    summary: members.optionalTextMap('summary') ?? {},
    representations: members.list('representations').map((each) => representationFromJson(each, where)),
    defaultCatalog: members.optionalText('default-catalog'),
    defaultNamespace: members.texts('default-namespace'),
  };
}

function representationFromJson(json: JsonValue, where: string): ViewRepresentation {
  const members = new JsonMembers(json, `${where}: view representation`);
  const type = members.text('type');
  if (type.toLowerCase() === 'sql') return { kind: 'sql', sql: members.text('sql'), dialect: members.text('dialect') };
  return { kind: 'other', json: isJsonObject(json) ? json : {} };
}
