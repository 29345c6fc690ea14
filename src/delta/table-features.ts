import { AnalysisException } from '../base/analysis-exception.ts';
import { serviceError } from '../base/errors.ts';
import type { StructType } from '../schema/types.ts';
import type { MetadataAction, ProtocolAction } from './actions.ts';
import { mappingModeOf } from './column-mapping/physical-schema.ts';
import { knownFeatures, visitFields } from './feature-catalogue.ts';

const newestReader = 3;
const newestWriter = 7;
/** Names a feature had before it was final. */
const previews: readonly string[] = ['typeWidening-preview', 'variantType-preview', 'variantShredding-preview'];
const readable: ReadonlySet<string> = new Set([
  ...knownFeatures.filter((feature) => feature.forReaders).map((feature) => feature.name),
  ...previews,
]);
const writable: ReadonlySet<string> = new Set([...knownFeatures.map((feature) => feature.name), ...previews]);
/** Features that ask nothing while their property is not set; set, they ask for what is not done here. */
const onlyInactive: ReadonlyMap<string, string> = new Map([
  ['icebergCompatV1', 'delta.enableIcebergCompatV1'],
  ['icebergCompatV2', 'delta.enableIcebergCompatV2'],
]);

/** Duties that whoever appends decoded rows straight to files does not fulfil. */
const fieldDuties: readonly (readonly [feature: string, metadataKey: string])[] = [
  ['invariants', 'delta.invariants'],
  ['generatedColumns', 'delta.generationExpression'],
  ['identityColumns', 'delta.identity.start'],
];

/**
 * Whether the table can be read through the query engine.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_FEATURES_FOR_READ` (56038, kind unsupported) naming them, `DELTA_INVALID_PROTOCOL_VERSION`
 * (KD004, kind unsupported) for reader versions beyond 3; ServiceError `DELTA_INVALID_PROTOCOL_VERSION` (kind corrupt) when versions and
 * feature lists contradict each other.
 */
export function checkReadable(protocol: ProtocolAction, metadata: MetadataAction, table: string): void {
  if (protocol.minReaderVersion > newestReader) throw tooNew(table, protocol);
  checkShape(protocol, table);
  const unknown = (protocol.readerFeatures ?? []).filter((feature) => !readable.has(feature));
  if (metadata.formatProvider !== 'parquet') unknown.push(`format ${metadata.formatProvider}`);
  if (unknown.length > 0) throw unsupported('read', table, unknown);
}

/**
 * Whether files hold the columns as the schema names them, so that they can be read without the engine; narrower types that a column had before are
 * widened as they are read. What is not: column mapping, shredded variants.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_FEATURES_FOR_READ` naming what is in the way, and what `checkReadable` throws.
 */
export function checkPlainlyReadable(protocol: ProtocolAction, metadata: MetadataAction, table: string): void {
  checkReadable(protocol, metadata, table);
  const active = (protocol.readerFeatures ?? []).filter(shreds);
  const mode = mappingModeOf(protocol, metadata);
  if (mode !== 'none') active.push(`columnMapping (mode ${mode})`);
  if (active.length > 0) throw unsupported('read', table, active);
}

/** Whether files may hold shredded variants, which the engine alone puts together again. */
export function isShredding({ readerFeatures }: ProtocolAction): boolean {
  return readerFeatures?.some(shreds) === true;
}

function shreds(feature: string): boolean {
  return feature.startsWith('variantShredding');
}

/**
 * Whether rows can be written through the query engine, which fulfils the duties of every feature it knows.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE` (56038, kind unsupported) naming them, `DELTA_INVALID_PROTOCOL_VERSION`
 * (KD004) for writer versions beyond 7, and what `checkReadable` throws.
 */
export function checkRowsWritable(protocol: ProtocolAction, metadata: MetadataAction, table: string): void {
  checkReadable(protocol, metadata, table);
  if (protocol.minWriterVersion > newestWriter) throw tooNew(table, protocol);
  const unknown = (protocol.writerFeatures ?? []).filter((feature) => !isWritable(feature, metadata));
  if (unknown.length > 0) throw unsupported('write', table, unknown);
}

/**
 * Whether decoded rows can be appended as they are, without the engine: no constraint, generated value, physical name or row id is asked
 * for.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE` naming them, and what `checkRowsWritable` throws.
 */
export function checkWritable(protocol: ProtocolAction, metadata: MetadataAction, schema: StructType, table: string): void {
  checkRowsWritable(protocol, metadata, table);
  const features = protocol.writerFeatures ?? [];
  const mode = mappingModeOf(protocol, metadata);
  const active = [
    ...features.filter((feature) => feature === 'rowTracking' || feature === 'clustering'),
    ...(mode === 'none' ? [] : [`columnMapping (mode ${mode})`]),
    ...Object.keys(metadata.configuration)
      .filter((key) => key.startsWith('delta.constraints.'))
      .map((key) => `checkConstraints (constraint "${key.slice('delta.constraints.'.length)}")`),
    ...fieldsWith(schema, fieldDuties),
  ];
  if (active.length > 0) throw unsupported('write', table, active);
}

function isWritable(feature: string, metadata: MetadataAction): boolean {
  const property = onlyInactive.get(feature);
  if (property !== undefined) return metadata.configuration[property]?.toLowerCase() !== 'true';
  return writable.has(feature);
}

function fieldsWith(schema: StructType, duties: readonly (readonly [feature: string, metadataKey: string])[]): readonly string[] {
  const found: string[] = [];
  visitFields(schema, (field, path) => {
    for (const [feature, key] of duties) if (field.metadata?.[key] !== undefined) found.push(`${feature} (column "${path.join('.')}")`);
  });
  return found;
}

function checkShape(protocol: ProtocolAction, table: string): void {
  const { minReaderVersion, minWriterVersion, readerFeatures, writerFeatures } = protocol;
  const problem =
    (readerFeatures === undefined) === (minReaderVersion === newestReader)
      ? `readerFeatures ${readerFeatures === undefined ? 'missing' : 'present'} with reader version ${minReaderVersion}`
      : (writerFeatures === undefined) === minWriterVersion >= newestWriter
        ? `writerFeatures ${writerFeatures === undefined ? 'missing' : 'present'} with writer version ${minWriterVersion}`
        : readerFeatures?.some((feature) => writerFeatures?.includes(feature) !== true) === true
          ? 'a reader feature is not listed as a writer feature'
          : undefined;
  if (problem === undefined) return;
  throw serviceError.corrupt('DELTA_INVALID_PROTOCOL_VERSION', `table "${table}": ${problem}`);
}

function tooNew(table: string, protocol: ProtocolAction): AnalysisException {
  const { minReaderVersion, minWriterVersion } = protocol;
  return new AnalysisException({
    errorClass: 'DELTA_INVALID_PROTOCOL_VERSION',
    kind: 'unsupported',
    message:
      `unsupported Delta protocol version: table "${table}" requires reader version ${minReaderVersion} and writer version ` +
      `${minWriterVersion}, but supported are reader versions 1 to ${newestReader} and writer versions 1 to ${newestWriter}`,
    parameters: { tableNameOrPath: table, readerRequired: String(minReaderVersion), writerRequired: String(minWriterVersion) },
    hint: 'use a table with an older protocol',
  });
}

function unsupported(doing: 'read' | 'write', table: string, features: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: doing === 'read' ? 'DELTA_UNSUPPORTED_FEATURES_FOR_READ' : 'DELTA_UNSUPPORTED_FEATURES_FOR_WRITE',
    kind: 'unsupported',
    message:
      `unsupported Delta ${doing} feature: table "${table}" requires ${doing === 'read' ? 'reader' : 'writer'} table feature(s) that are ` +
      `not supported here: ${features.join(', ')}`,
    parameters: { tableNameOrPath: table, unsupported: features.join(', ') },
    hint: 'drop the feature from the table (ALTER TABLE … DROP FEATURE), or use a table without it',
  });
}
