import { AnalysisException } from '../../base/analysis-exception.ts';
import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import { bodyOf } from '../action-json.ts';
import type { ProtocolAction } from '../actions.ts';
import { clusteringColumnsOf, clusteringDomainName } from '../clustering.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { featureNamed, featuresUsedBy, knownFeatures } from '../feature-catalogue.ts';
import { protocolFor, sameProtocol, supportedFeatures, takeProtocolSettings, withoutFeature } from '../protocol-for.ts';
import type { PlannedChange } from './planned-change.ts';

/** ALTER TABLE … protocol versions (`upgradeTableProtocol`); nothing is to be done for versions that the table has. */
export function upgradeProtocol(
  snapshot: DeltaSnapshot,
  asked: { readonly minReaderVersion: number; readonly minWriterVersion: number },
): PlannedChange | undefined {
  const protocol = protocolFor({
    schema: snapshot.schema,
    configuration: snapshot.properties,
    clustered: isClustered(snapshot),
    current: snapshot.protocol,
    ...raised(snapshot.protocol, asked),
  });
  if (sameProtocol(protocol, snapshot.protocol)) return undefined;
  return { operation: 'UPGRADE PROTOCOL', operationParameters: protocolParameter(protocol), protocol };
}

/** Adds a feature by name, as `delta.feature.X = supported` does. @throws AnalysisException `DELTA_UNSUPPORTED_FEATURES_IN_CONFIG`. */
export function addFeature(snapshot: DeltaSnapshot, feature: string): PlannedChange | undefined {
  const key = `delta.feature.${feature}`;
  const { features } = takeProtocolSettings({ [key]: 'supported' });
  if (features.every((name) => supportedFeatures(snapshot.protocol).includes(name))) return undefined;
  return { operation: 'SET TBLPROPERTIES', operationParameters: { properties: printJson({ [key]: 'supported' }) }, features };
}

/**
 * DROP FEATURE: for features that only writers know and that the table does not use any more.
 *
 * @throws AnalysisException `DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE`, `DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT`,
 * `DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE`, `DELTA_FEATURE_DROP_DEPENDENT_FEATURE`, `DELTA_FEATURE_DROP_FEATURE_IN_USE` (all 0AKDE).
 */
export function dropFeature(snapshot: DeltaSnapshot, name: string): PlannedChange {
  const feature = featureNamed(name);
  const listed = supportedFeatures(snapshot.protocol);
  if (feature === undefined) throw cannotDrop('DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE', name, 'it is not known here');
  if (!listed.includes(feature.name)) throw cannotDrop('DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT', name, 'the table does not have it');
  if (feature.forReaders || feature.legacy?.writer === 2) {
    const why = feature.forReaders ? 'readers of older versions need it for as long as the history is kept' : 'every table has it';
    throw cannotDrop('DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE', name, why);
  }
  const dependent = knownFeatures.find((other) => other.requires?.includes(feature.name) === true && listed.includes(other.name));
  if (dependent !== undefined) throw cannotDrop('DELTA_FEATURE_DROP_DEPENDENT_FEATURE', name, `${dependent.name} depends on it`);
  const use = { schema: snapshot.schema, configuration: snapshot.properties, clustered: isClustered(snapshot) };
  if (featuresUsedBy(use).includes(feature.name)) throw cannotDrop('DELTA_FEATURE_DROP_FEATURE_IN_USE', name, 'the table uses it');
  const ended = [...snapshot.domains()]
    .filter((domain) => belongsTo(domain.domain, feature.name))
    .map((domain) => ({ ...domain, removed: true }));
  return {
    operation: 'DROP FEATURE',
    operationParameters: { featureName: feature.name, truncateHistory: 'false' },
    protocol: withoutFeature(snapshot.protocol, feature.name),
    actions: ended,
  };
}

interface AskedVersions {
  readonly minReaderVersion?: number | undefined;
  readonly minWriterVersion?: number | undefined;
}

/** Versions that are asked for, where they are above those that the table has; lower ones are passed over, as in Delta. */
export function raised(current: ProtocolAction, asked: AskedVersions): AskedVersions {
  const higher = (own: number, wanted: number | undefined): number | undefined =>
    wanted === undefined ? undefined : Math.max(own, wanted);
  return {
    minReaderVersion: higher(current.minReaderVersion, asked.minReaderVersion),
    minWriterVersion: higher(current.minWriterVersion, asked.minWriterVersion),
  };
}

/** Whether the table has clustering columns. */
export function isClustered(snapshot: DeltaSnapshot): boolean {
  return clusteringColumnsOf(snapshot.schema, snapshot.domains()).length > 0;
}

function protocolParameter(protocol: ProtocolAction): JsonObject {
  return { newProtocol: printJson(bodyOf(protocol)) };
}

function belongsTo(domain: string, feature: string): boolean {
  if (feature === 'clustering') return domain === clusteringDomainName;
  return feature === 'rowTracking' ? domain === 'delta.rowTracking' : feature === 'domainMetadata';
}

function cannotDrop(errorClass: string, feature: string, why: string): AnalysisException {
  return new AnalysisException({
    errorClass,
    kind: 'unsupported',
    message: `Cannot drop feature ${feature}: ${why}`,
    parameters: { feature },
    hint: 'unset the property that uses the feature first; features of readers stay',
  });
}
