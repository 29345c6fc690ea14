import { ServiceError } from '../base/errors.ts';
import type { Field, StructType } from '../schema/types.ts';
import type { MetadataAction, ProtocolAction } from './actions.ts';

const readable: ReadonlySet<string> = new Set(['columnMapping', 'deletionVectors', 'timestampNtz', 'v2Checkpoint', 'vacuumProtocolCheck']);
const writable: ReadonlySet<string> = new Set([
  'appendOnly',
  'invariants',
  'checkConstraints',
  'changeDataFeed',
  'generatedColumns',
  'columnMapping',
  'identityColumns',
  'allowColumnDefaults',
  'deletionVectors',
  'timestampNtz',
  'v2Checkpoint',
  'vacuumProtocolCheck',
  'domainMetadata',
  'inCommitTimestamp',
]);

/** Features that only the field metadata or the properties switch on; a listed but inactive one asks nothing of a writer. */
const fieldDuties: readonly (readonly [feature: string, metadataKey: string])[] = [
  ['invariants', 'delta.invariants'],
  ['generatedColumns', 'delta.generationExpression'],
  ['identityColumns', 'delta.identity.start'],
];

/**
 * Whether the table can be read as the code understands it.
 *
 * @throws ServiceError `DELTA_UNSUPPORTED_FEATURES_FOR_READ` (kind unsupported) naming them, `DELTA_INVALID_PROTOCOL_VERSION` (kind
 * unsupported) for reader versions beyond 3, `DELTA_LOG_CORRUPT` when versions and feature lists contradict each other.
 */
export function checkReadable(protocol: ProtocolAction, metadata: MetadataAction, table: string): void {
  checkShape(protocol, table);
  if (protocol.minReaderVersion > 3) throw tooNew(table, 'reader', protocol.minReaderVersion, 3);
  const unknown = (protocol.readerFeatures ?? []).filter((feature) => !readable.has(feature));
  const mapping = metadata.configuration['delta.columnMapping.mode'] ?? 'none';
  // The mode only counts when the protocol knows of it.
  const mapped = mapping !== 'none' && (protocol.minReaderVersion === 2 || protocol.readerFeatures?.includes('columnMapping') === true);
  if (mapped) unknown.push(`columnMapping (mode ${mapping})`);
  if (metadata.formatProvider !== 'parquet') unknown.push(`format ${metadata.formatProvider}`);
  if (unknown.length > 0) throw unsupported('DELTA_UNSUPPORTED_FEATURES_FOR_READ', 'reading', table, unknown);
}

/**
 * Whether rows and files can be committed without breaking a duty of a feature.
 *
 * @throws ServiceError `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE` (kind unsupported) naming them, and what `checkReadable` throws.
 */
export function checkWritable(protocol: ProtocolAction, metadata: MetadataAction, schema: StructType, table: string): void {
  checkReadable(protocol, metadata, table);
  if (protocol.minWriterVersion > 7) throw tooNew(table, 'writer', protocol.minWriterVersion, 7);
  const unknown = (protocol.writerFeatures ?? []).filter((feature) => !writable.has(feature));
  const active = [...unknown, ...activeDuties(metadata, schema)];
  if (active.length > 0) throw unsupported('DELTA_UNSUPPORTED_FEATURES_FOR_WRITE', 'writing', table, active);
}

function activeDuties(metadata: MetadataAction, schema: StructType): readonly string[] {
  const constraints = Object.keys(metadata.configuration)
    .filter((key) => key.startsWith('delta.constraints.'))
    .map((key) => `checkConstraints (constraint "${key.slice('delta.constraints.'.length)}")`);
  const fields: string[] = [];
  visitFields(schema, '', (field, path) => {
    for (const [feature, key] of fieldDuties) if (field.metadata?.[key] !== undefined) fields.push(`${feature} (column "${path}")`);
  });
  return [...constraints, ...fields];
}

function visitFields(schema: StructType, prefix: string, visit: (field: Field, path: string) => void): void {
  for (const field of schema.fields) {
    visit(field, `${prefix}${field.name}`);
    if (field.type.kind === 'struct') visitFields(field.type, `${prefix}${field.name}.`, visit);
  }
}

function checkShape(protocol: ProtocolAction, table: string): void {
  const problem =
    (protocol.readerFeatures === undefined) === (protocol.minReaderVersion === 3)
      ? `readerFeatures ${protocol.readerFeatures === undefined ? 'missing' : 'present'} with reader version ${protocol.minReaderVersion}`
      : (protocol.writerFeatures === undefined) === (protocol.minWriterVersion === 7)
        ? `writerFeatures ${protocol.writerFeatures === undefined ? 'missing' : 'present'} with writer version ${protocol.minWriterVersion}`
        : protocol.readerFeatures?.some((feature) => protocol.writerFeatures?.includes(feature) !== true) === true
          ? 'a reader feature is not listed as a writer feature'
          : undefined;
  if (problem === undefined) return;
  throw new ServiceError({ code: 'DELTA_INVALID_PROTOCOL_VERSION', kind: 'corrupt', message: `table "${table}": ${problem}` });
}

function tooNew(table: string, side: string, found: number, supported: number): ServiceError {
  return new ServiceError({
    code: 'DELTA_INVALID_PROTOCOL_VERSION',
    kind: 'unsupported',
    message: `table "${table}" needs ${side} version ${found}, supported is up to ${supported}`,
    hint: 'use a table with an older protocol',
  });
}

function unsupported(code: string, doing: string, table: string, features: readonly string[]): ServiceError {
  return new ServiceError({
    code,
    kind: 'unsupported',
    message: `table "${table}": ${doing} needs ${features.join(', ')}, which is not supported`,
    hint: 'drop the feature from the table (ALTER TABLE … DROP FEATURE), or use a table without it',
  });
}
