import { innerFields, someType } from '../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';

/** What switches features on: the definition of a table. */
export interface FeatureUse {
  readonly schema: StructType;
  readonly configuration: Readonly<Record<string, string>>;
  /** Whether the table is clustered (domain `delta.clustering`). */
  readonly clustered?: boolean | undefined;
}

/** A table feature of the protocol. */
export interface TableFeature {
  readonly name: string;
  /** Readers must know it too. */
  readonly forReaders: boolean;
  /** The legacy protocol versions that have it. Without them it is always named. */
  readonly legacy?: { readonly reader: number; readonly writer: number } | undefined;
  /** Features that it takes along. */
  readonly requires?: readonly string[] | undefined;
  /** Whether a definition uses it, so that the protocol must have it. */
  readonly usedBy?: ((use: FeatureUse) => boolean) | undefined;
}

/** Features whose duties are known here. What a table lists beyond these is refused by name. */
export const knownFeatures: readonly TableFeature[] = [
  { name: 'appendOnly', forReaders: false, legacy: { reader: 1, writer: 2 }, usedBy: isSet('delta.appendOnly') },
  { name: 'invariants', forReaders: false, legacy: { reader: 1, writer: 2 }, usedBy: hasFieldKey('delta.invariants') },
  { name: 'checkConstraints', forReaders: false, legacy: { reader: 1, writer: 3 }, usedBy: hasConstraints },
  { name: 'changeDataFeed', forReaders: false, legacy: { reader: 1, writer: 4 }, usedBy: isSet('delta.enableChangeDataFeed') },
  { name: 'generatedColumns', forReaders: false, legacy: { reader: 1, writer: 4 }, usedBy: hasFieldKey('delta.generationExpression') },
  { name: 'columnMapping', forReaders: true, legacy: { reader: 2, writer: 5 }, usedBy: isMapped },
  { name: 'identityColumns', forReaders: false, legacy: { reader: 1, writer: 6 }, usedBy: hasFieldKey('delta.identity.start') },
  { name: 'deletionVectors', forReaders: true, usedBy: isSet('delta.enableDeletionVectors') },
  { name: 'timestampNtz', forReaders: true, usedBy: (use) => someType(use.schema, (type) => type.kind === 'timestamp_ntz') },
  { name: 'domainMetadata', forReaders: false },
  { name: 'rowTracking', forReaders: false, requires: ['domainMetadata'], usedBy: isSet('delta.enableRowTracking') },
  {
    name: 'v2Checkpoint',
    forReaders: true,
    usedBy: ({ configuration }) => configuration['delta.checkpointPolicy']?.toLowerCase() === 'v2',
  },
  { name: 'allowColumnDefaults', forReaders: false, usedBy: hasFieldKey('CURRENT_DEFAULT') },
  { name: 'clustering', forReaders: false, requires: ['domainMetadata'], usedBy: (use) => use.clustered === true },
  { name: 'typeWidening', forReaders: true, usedBy: isSet('delta.enableTypeWidening') },
  { name: 'inCommitTimestamp', forReaders: false, usedBy: isSet('delta.enableInCommitTimestamps') },
  { name: 'vacuumProtocolCheck', forReaders: true },
  { name: 'variantType', forReaders: true, usedBy: (use) => someType(use.schema, (type) => type.kind === 'variant') },
  { name: 'variantShredding', forReaders: true, usedBy: isSet('delta.enableVariantShredding') },
];

const byLowerName: ReadonlyMap<string, TableFeature> = new Map(knownFeatures.map((feature) => [feature.name.toLowerCase(), feature]));

/** The feature of that name, whatever its case. */
export function featureNamed(name: string): TableFeature | undefined {
  return byLowerName.get(name.toLowerCase());
}

/** Names of the features a definition uses, with those they take along. */
export function featuresUsedBy(use: FeatureUse): readonly string[] {
  return withRequired(knownFeatures.filter((feature) => feature.usedBy?.(use) === true).map((feature) => feature.name));
}

/** The names and all that they take along, in the catalogue's order; names beyond the catalogue stay, last. */
export function withRequired(names: Iterable<string>): readonly string[] {
  const wanted = new Set(names);
  for (const name of wanted) for (const required of featureNamed(name)?.requires ?? []) wanted.add(required);
  const known = knownFeatures.map((feature) => feature.name).filter((name) => wanted.delete(name));
  return [...known, ...wanted];
}

/** Visits every column and struct member, those in lists and maps too; paths enter them by `element`, `key` and `value`. */
export function visitFields(schema: StructType, visit: (field: Field, path: readonly string[]) => void): void {
  const within = (type: DataType, above: readonly string[]): void => {
    for (const field of innerFields(type)) {
      const path = [...above, field.name];
      if (type.kind === 'struct') visit(field, path);
      within(field.type, path);
    }
  };
  within(schema, []);
}

function isSet(key: string): (use: FeatureUse) => boolean {
  return ({ configuration }) => configuration[key]?.toLowerCase() === 'true';
}

function isMapped({ configuration }: FeatureUse): boolean {
  return (configuration['delta.columnMapping.mode']?.toLowerCase() ?? 'none') !== 'none';
}

function hasConstraints({ configuration }: FeatureUse): boolean {
  return Object.keys(configuration).some((key) => key.startsWith('delta.constraints.'));
}

function hasFieldKey(key: string): (use: FeatureUse) => boolean {
  return ({ schema }) => {
    let found = false;
    visitFields(schema, (field) => {
      found ||= field.metadata?.[key] !== undefined;
    });
    return found;
  };
}
