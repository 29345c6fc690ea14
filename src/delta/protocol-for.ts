import { AnalysisException } from '../base/analysis-exception.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { ProtocolAction } from './actions.ts';
import { type FeatureUse, featureNamed, featuresUsedBy, knownFeatures, withRequired } from './feature-catalogue.ts';

export interface ProtocolRequest extends FeatureUse {
  /** The protocol in force. `undefined`: a table that is made. */
  readonly current?: ProtocolAction | undefined;
  /** Features asked for by name (`delta.feature.X = supported`), in canonical spelling. */
  readonly features?: readonly string[] | undefined;
  /** Versions asked for (`delta.minReaderVersion`, `delta.minWriterVersion`): the features of those legacy versions. */
  readonly minReaderVersion?: number | undefined;
  readonly minWriterVersion?: number | undefined;
}

const newest = { reader: 3, writer: 7 } as const;

/**
 * The weakest protocol that covers what the definition uses, what was asked for and what is in force: never less than `current`. Legacy
 * versions are taken where they say exactly that, because engines refuse what they do not know, even unused.
 *
 * @throws AnalysisException `DELTA_INVALID_PROTOCOL_VERSION` (KD004) for versions asked for that no table can have,
 * `DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT`.
 */
export function protocolFor(request: ProtocolRequest): ProtocolAction {
  const { current } = request;
  checkVersions(request.minReaderVersion, request.minWriterVersion);
  if (current !== undefined) checkManualFeatures(current, request);
  const wanted = withRequired([
    ...(current === undefined ? ['appendOnly', 'invariants'] : supportedFeatures(current)),
    // A table that has a feature under the name it had before it was final has it.
    ...featuresUsedBy(request).filter((name) => current?.writerFeatures?.includes(`${name}-preview`) !== true),
    ...(request.features ?? []),
    ...legacyFeatures(request.minReaderVersion ?? 0, request.minWriterVersion ?? 0),
  ]);
  if (current !== undefined && satisfies(current, wanted, request)) return current;
  const covering = covers(wanted, current);
  // A protocol never loses what it names: one with named features stays one.
  const keepsNames = current?.writerFeatures !== undefined || (request.minWriterVersion ?? 0) >= newest.writer;
  const legacy = keepsNames ? undefined : legacyProtocolOf(wanted);
  if (legacy !== undefined && (current === undefined || legacy.minWriterVersion >= current.minWriterVersion)) return legacy;
  const needsReaderFeatures = current?.readerFeatures !== undefined || (request.minReaderVersion ?? 0) >= newest.reader;
  return needsReaderFeatures ? { ...covering, minReaderVersion: newest.reader, readerFeatures: readersOf(wanted, current) } : covering;
}

/** All features a protocol has: those it names, or those its legacy version stands for. */
export function supportedFeatures(protocol: ProtocolAction): readonly string[] {
  return protocol.writerFeatures ?? legacyFeatures(protocol.minReaderVersion, protocol.minWriterVersion);
}

export function supportsFeature(protocol: ProtocolAction, feature: string): boolean {
  return supportedFeatures(protocol).includes(feature);
}

/** The protocol less a feature that only writers know; a legacy version where that says it. */
export function withoutFeature(protocol: ProtocolAction, feature: string): ProtocolAction {
  const left = supportedFeatures(protocol).filter((name) => name !== feature);
  return legacyProtocolOf(left) ?? covers(left, protocol);
}

/** Whether both protocols say the same. */
export function sameProtocol(left: ProtocolAction, right: ProtocolAction): boolean {
  const text = (protocol: ProtocolAction): string =>
    [
      protocol.minReaderVersion,
      protocol.minWriterVersion,
      protocol.readerFeatures?.toSorted().join() ?? '-',
      protocol.writerFeatures?.toSorted().join() ?? '-',
    ].join('/');
  return text(left) === text(right);
}

const featurePrefix = 'delta.feature.';

/** A table's properties, apart from the settings that only speak of the protocol. */
export interface ProtocolSettings {
  readonly rest: Readonly<Record<string, string>>;
  readonly features: readonly string[];
  readonly minReaderVersion?: number | undefined;
  readonly minWriterVersion?: number | undefined;
}

/**
 * Takes `delta.feature.X = supported`, `delta.minReaderVersion` and `delta.minWriterVersion` out of properties: they ask for a protocol
 * and are not stored.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_FEATURES_IN_CONFIG` (56038), `DELTA_UNSUPPORTED_FEATURE_STATUS` (0AKDE),
 * `DELTA_INVALID_PROTOCOL_VERSION`.
 */
export function takeProtocolSettings(properties: Readonly<Record<string, string>>): ProtocolSettings {
  const rest: Record<string, string> = {};
  const features: string[] = [];
  let minReaderVersion: number | undefined;
  let minWriterVersion: number | undefined;
  for (const [key, value] of Object.entries(properties)) {
    const lower = key.toLowerCase();
    if (lower.startsWith(featurePrefix)) features.push(askedFeature(key, value));
    else if (lower === 'delta.minreaderversion') minReaderVersion = versionOf(key, value, newest.reader);
    else if (lower === 'delta.minwriterversion') minWriterVersion = versionOf(key, value, newest.writer);
    else rest[key] = value;
  }
  return { rest, features, minReaderVersion, minWriterVersion };
}

function askedFeature(key: string, value: string): string {
  const name = key.slice(featurePrefix.length);
  const feature = featureNamed(name);
  if (feature === undefined) {
    const nearest = nearestName(
      name,
      knownFeatures.map((known) => known.name),
    );
    throw new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_FEATURES_IN_CONFIG',
      kind: 'unsupported',
      message: `table features configured in the properties are not supported: ${name}`,
      parameters: { configs: name },
      hint: nearest === undefined ? 'remove the property' : `did you mean "${featurePrefix}${nearest}"?`,
    });
  }
  if (value.toLowerCase() === 'supported' || value.toLowerCase() === 'enabled') return feature.name;
  throw new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_FEATURE_STATUS',
    message: `expecting the status for table feature ${name} to be "supported", but got "${value}"`,
    parameters: { feature: name, status: value },
    hint: `set ${featurePrefix}${feature.name} to supported`,
  });
}

function satisfies(current: ProtocolAction, wanted: readonly string[], request: ProtocolRequest): boolean {
  const supported = supportedFeatures(current);
  const versions =
    (request.minReaderVersion ?? 0) <= current.minReaderVersion && (request.minWriterVersion ?? 0) <= current.minWriterVersion;
  return versions && wanted.every((feature) => supported.includes(feature));
}

/** A protocol that names its features. */
function covers(wanted: readonly string[], current: ProtocolAction | undefined): ProtocolAction {
  const readers = readersOf(wanted, current);
  const beyondLegacy = readers.some((name) => featureNamed(name)?.legacy === undefined);
  return {
    kind: 'protocol',
    minReaderVersion: beyondLegacy ? newest.reader : Math.max(readers.length > 0 ? 2 : 1, current?.minReaderVersion ?? 1),
    minWriterVersion: newest.writer,
    readerFeatures: beyondLegacy ? readers : undefined,
    writerFeatures: wanted,
  };
}

function readersOf(wanted: readonly string[], current: ProtocolAction | undefined): readonly string[] {
  return wanted.filter((name) => featureNamed(name)?.forReaders === true || current?.readerFeatures?.includes(name) === true);
}

/** The legacy protocol that stands for exactly these features. */
function legacyProtocolOf(wanted: readonly string[]): ProtocolAction | undefined {
  for (const minWriterVersion of [2, 3, 4, 5, 6]) {
    const minReaderVersion = minWriterVersion >= 5 ? 2 : 1;
    const features = legacyFeatures(minReaderVersion, minWriterVersion);
    const same = features.length === wanted.length && features.every((feature) => wanted.includes(feature));
    if (same) return { kind: 'protocol', minReaderVersion, minWriterVersion };
  }
  return undefined;
}

function legacyFeatures(reader: number, writer: number): readonly string[] {
  if (writer >= newest.writer) return [];
  const covered = knownFeatures.filter(
    ({ legacy }) => legacy !== undefined && legacy.writer <= writer && legacy.reader <= Math.max(reader, 1),
  );
  return covered.map((feature) => feature.name);
}

function versionOf(key: string, value: string, most: number): number {
  const version = /^\d{1,2}$/.test(value.trim()) ? Number(value) : 0;
  if (version >= 1 && version <= most) return version;
  throw new AnalysisException({
    errorClass: 'DELTA_INVALID_PROTOCOL_VERSION',
    message: `unsupported protocol version ${value} in property ${key}, supported are 1 to ${most}`,
    parameters: { key, value },
    hint: `use a version from 1 to ${most}`,
  });
}

function checkVersions(reader: number | undefined, writer: number | undefined): void {
  const problem =
    (reader ?? 1) > newest.reader || (writer ?? 1) > newest.writer
      ? 'is beyond what is supported'
      : (reader ?? 1) >= newest.reader && writer !== undefined && writer < newest.writer
        ? 'is not possible: reader version 3 needs writer version 7'
        : (reader ?? 1) === 2 && writer !== undefined && writer < 5
          ? 'is not possible: reader version 2 needs writer version 5'
          : undefined;
  if (problem === undefined) return;
  throw new AnalysisException({
    errorClass: 'DELTA_INVALID_PROTOCOL_VERSION',
    message: `protocol version (${reader ?? 1},${writer ?? 1}) ${problem}`,
    parameters: { minReaderVersion: String(reader ?? ''), minWriterVersion: String(writer ?? '') },
    hint: 'the newest protocol version is (3,7)',
  });
}

/** Features that a table which is there does not gain by the way: its readers would be locked out by a mere column. */
const manual: ReadonlySet<string> = new Set(['timestampNtz']);

/**
 * Refuses a definition that needs such a feature, unless the table has it or it was asked for by name.
 *
 * @throws AnalysisException `DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT` (42000).
 */
function checkManualFeatures(current: ProtocolAction, request: ProtocolRequest): void {
  const supported = supportedFeatures(current);
  const missing = featuresUsedBy(request).filter(
    (name) => manual.has(name) && !supported.includes(name) && request.features?.includes(name) !== true,
  );
  if (missing.length === 0) return;
  throw new AnalysisException({
    errorClass: 'DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT',
    message:
      `Your table schema requires manually enablement of the following table feature(s): ${missing.join(', ')}. To do this, run the following ` +
      "command for each of features listed above: ALTER TABLE table_name SET TBLPROPERTIES ('delta.feature.feature_name' = 'supported'). " +
      `Current supported feature(s): ${supported.join(', ')}.`,
    parameters: { unsupportedFeatures: missing.join(', '), supportedFeatures: supported.join(', ') },
    hint: missing.map((name) => `set 'delta.feature.${name}' = 'supported'`).join('; '),
  });
}
