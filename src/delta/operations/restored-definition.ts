import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { DomainMetadataAction, MetadataAction, ProtocolAction } from '../actions.ts';
import { mappingKeys } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { longOf } from '../files/identity-columns.ts';
import { protocolFor, supportedFeatures } from '../protocol-for.ts';
import { rowTrackingKeys } from '../row-tracking-columns.ts';
import { printSchemaString } from '../schema-json.ts';

const clusteringDomain = 'delta.clustering';
const identityMark = 'delta.identity.highWaterMark';
const identityStep = 'delta.identity.step';
/** Settings that say how versions from the present one on are to be read; the past cannot take them back. */
const lastingProperties: readonly string[] = [
  'delta.enableInCommitTimestamps',
  'delta.inCommitTimestampEnablementVersion',
  'delta.inCommitTimestampEnablementTimestamp',
];

/** Names of columns that files written meanwhile have, and that older files had: given once, they stay. */
const givenNames: readonly string[] = Object.values(rowTrackingKeys);

/** What covers the features of both: a table that lost one since, or got one, can be read and written as the restored version was. */
export function restoredProtocol(base: DeltaSnapshot, target: DeltaSnapshot): ProtocolAction {
  return protocolFor({
    current: base.protocol,
    features: supportedFeatures(target.protocol),
    schema: target.schema,
    configuration: target.metadata.configuration,
  });
}

/** The old metadata, except that counters go on from where they are. */
export function restoredMetadata(base: DeltaSnapshot, target: DeltaSnapshot): MetadataAction {
  const configuration: Record<string, string> = { ...target.metadata.configuration };
  for (const key of lastingProperties) {
    const value = base.metadata.configuration[key];
    if (value === undefined) Reflect.deleteProperty(configuration, key);
    else configuration[key] = value;
  }
  for (const key of givenNames) {
    const name = base.metadata.configuration[key] ?? configuration[key];
    if (name !== undefined) configuration[key] = name;
  }
  const [had, has] = [target, base].map((snapshot) => Number(snapshot.metadata.configuration[mappingKeys.maxColumnId] ?? '-1'));
  const maxColumnId = Math.max(had ?? -1, has ?? -1);
  if (configuration[mappingKeys.maxColumnId] !== undefined) configuration[mappingKeys.maxColumnId] = String(maxColumnId);
  const schema = withFurthestMarks(target.schema, base.schema);
  const schemaString = schema === target.schema ? target.metadata.schemaString : printSchemaString(schema);
  return { ...target.metadata, id: base.metadata.id, schemaString, configuration };
}

/** Which columns rows are clustered by belongs to the definition; other domains have a life of their own. */
export function restoredDomains(base: DeltaSnapshot, target: DeltaSnapshot): readonly DomainMetadataAction[] {
  const find = (snapshot: DeltaSnapshot): DomainMetadataAction | undefined =>
    [...snapshot.domains()].find(({ domain }) => domain === clusteringDomain);
  const [now, then] = [find(base), find(target)];
  if (now?.configuration === then?.configuration) return [];
  if (then !== undefined) return [then];
  return now === undefined ? [] : [{ ...now, removed: true }];
}

/** The schema with each identity column counting on from the further of both; the same object when nothing changes. */
function withFurthestMarks(schema: StructType, other: StructType): StructType {
  const fields = schema.fields.map((field): Field => {
    const ahead = markOf(other.fields.find(({ name }) => name === field.name));
    const own = markOf(field);
    if (ahead === undefined || !isInteger(field.type) || field.metadata?.[identityStep] === undefined) return field;
    const step = longOf(field.metadata[identityStep]) ?? 1n;
    if (own !== undefined && (step > 0n ? own >= ahead : own <= ahead)) return field;
    return { ...field, metadata: { ...field.metadata, [identityMark]: ahead } };
  });
  return fields.every((field, index) => field === schema.fields[index]) ? schema : { kind: 'struct', fields };
}

function markOf(field: Field | undefined): bigint | undefined {
  return longOf(field?.metadata?.[identityMark]);
}

function isInteger(type: DataType): boolean {
  return type.kind === 'long';
}
