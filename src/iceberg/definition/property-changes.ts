import { AnalysisException } from '../../base/analysis-exception.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { IcebergSchema, TableMetadata } from '../metadata/table-metadata.ts';
import { refusedDefinition, unsupportedChange } from './definition-errors.ts';
import { refuseIgnored } from './property-catalogue.ts';
import { checkPropertyValues } from './property-values.ts';

/** Property that is no property: the version of the format. */
export const formatVersionKey = 'format-version';
/** Where a table's comment is kept. */
export const commentKey = 'comment';

/** Keys that show what the metadata says elsewhere: they are never stored. */
const reservedKeys: Readonly<Record<string, string | undefined>> = {
  uuid: 'the table gives itself its uuid',
  'snapshot-count': 'it follows from the snapshots',
  'current-snapshot-id': 'CALL system.set_current_snapshot changes it',
  'current-snapshot-summary': 'it follows from the current snapshot',
  'current-snapshot-timestamp-ms': 'it follows from the current snapshot',
  'current-schema': 'ALTER TABLE changes columns',
  'default-partition-spec': 'ALTER TABLE … ADD PARTITION FIELD changes it',
  'default-sort-order': 'ALTER TABLE … WRITE ORDERED BY changes it',
  'sort-order': 'ALTER TABLE … WRITE ORDERED BY changes it',
  'identifier-fields': 'ALTER TABLE … SET IDENTIFIER FIELDS changes it',
  'cherry-pick-snapshot-id': 'CALL system.cherrypick_snapshot does it',
  provider: 'the format of a table cannot be changed',
  format: 'the format of a table cannot be changed',
};

/** Updates for SET TBLPROPERTIES. @throws AnalysisException `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY` (0A000), `ICEBERG_DEFINITION_REFUSED`. */
export function setPropertyUpdates(metadata: TableMetadata, properties: Readonly<Record<string, string>>): readonly MetadataUpdate[] {
  const version = properties[formatVersionKey];
  checkPropertyValues(
    properties,
    metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId),
  );
  const changed = Object.entries(storedProperties(properties)).filter(([key, value]) => metadata.properties[key] !== value);
  return [
    ...(version === undefined ? [] : upgradeUpdates(metadata.formatVersion, formatVersionOf(version, unsupportedChange))),
    ...(changed.length === 0 ? [] : [{ action: 'set-properties', updates: Object.fromEntries(changed) } as const]),
  ];
}

/** Updates for UNSET TBLPROPERTIES; keys that are not there are left out. @throws AnalysisException `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY`. */
export function unsetPropertyUpdates(metadata: TableMetadata, keys: readonly string[]): readonly MetadataUpdate[] {
  for (const key of keys) checkReserved(key);
  if (keys.includes(formatVersionKey)) throw reserved(formatVersionKey, 'a table always has one');
  const removals = keys.filter((key) => Object.hasOwn(metadata.properties, key));
  return removals.length === 0 ? [] : [{ action: 'remove-properties', removals }];
}

/** Properties that SHOW CREATE TABLE shows of the metadata: a statement that makes a table may have them. */
const shownKeys: readonly string[] = ['current-snapshot-id', 'format', 'identifier-fields', 'sort-order'];

/** What of the properties of a table that is made is stored. @throws AnalysisException `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY` (0A000). */
export function createdProperties(properties: Readonly<Record<string, string>>, schema: IcebergSchema): Readonly<Record<string, string>> {
  checkPropertyValues(properties, schema);
  return storedProperties(Object.fromEntries(Object.entries(properties).filter(([key]) => !shownKeys.includes(key))));
}

/** What of given properties is stored with the table. @throws AnalysisException `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY` (0A000). */
function storedProperties(properties: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const key of Object.keys(properties)) checkReserved(key);
  refuseIgnored(properties);
  return Object.fromEntries(Object.entries(properties).filter(([key]) => key !== formatVersionKey));
}

/** @throws AnalysisException what `refuse` makes. */
export function formatVersionOf(text: string, refuse: (message: string) => AnalysisException = refusedDefinition): 1 | 2 | 3 {
  if (text === '1') return 1;
  if (text === '2') return 2;
  if (text === '3') return 3;
  throw refuse(`Cannot upgrade table to unsupported format version: v${text} (supported: v3)`);
}

/** @throws AnalysisException `_LEGACY_ERROR_TEMP_2045` for an older version than the table has. */
export function upgradeUpdates(current: 1 | 2 | 3, wanted: 1 | 2 | 3): readonly MetadataUpdate[] {
  if (wanted < current) throw unsupportedChange(`Cannot downgrade v${current} table to v${wanted}`);
  return wanted === current ? [] : [{ action: 'upgrade-format-version', formatVersion: wanted }];
}

function checkReserved(key: string): void {
  const reason = reservedKeys[key];
  if (reason !== undefined) throw reserved(key, reason);
}

function reserved(key: string, reason: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY',
    kind: 'unsupported',
    message: `The feature is not supported: ${key} is a reserved table property, ${reason}.`,
    parameters: { property: key, msg: reason },
  });
}
