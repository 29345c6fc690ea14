import { AnalysisException } from '../../base/analysis-exception.ts';

/** A property that the reference implementation knows. */
interface KnownProperty {
  /** The key, or how all keys of a family begin, with `…`. */
  readonly key: string;
  /** How the reader spells it, where that is otherwise. */
  readonly written?: string | undefined;
  /** Why nothing reads it, and what one can see is as without it. */
  readonly withoutEffect?: string | undefined;
  /** What else to do: a value other than the one that is here anyway is refused. */
  readonly refused?: { readonly unless: RegExp; readonly cure: string } | undefined;
}

const read = (...keys: readonly string[]): readonly KnownProperty[] => keys.map((key) => ({ key }));
const by = (written: string, ...keys: readonly string[]): readonly KnownProperty[] => keys.map((key) => ({ key, written }));
const idle = (withoutEffect: string, ...keys: readonly string[]): readonly KnownProperty[] => keys.map((key) => ({ key, withoutEffect }));
const refused = (key: string, unless: RegExp, cure: string): KnownProperty => ({ key, refused: { unless, cure } });

const never = /(?!)/;
const inside = 'how a file is laid out inside: the engine chooses, readers take any';
const divided = 'how Spark or Flink divides work among tasks';

/** The properties of tables that Iceberg's own documentation lists; all others are the user's, and kept. */
export const knownProperties: readonly KnownProperty[] = [
  ...read(
    'commit.manifest-merge.enabled',
    'commit.manifest.min-count-to-merge',
    'commit.manifest.target-size-bytes',
    'commit.retry.…',
    'commit.status-check.…',
    'format-version',
    'gc.enabled',
    'history.expire.max-ref-age-ms',
    'history.expire.max-snapshot-age-ms',
    'history.expire.min-snapshots-to-keep',
    'schema.name-mapping.default',
    'write.avro.compression-level',
    'write.data.path',
    'write.delete.format.default',
    'write.delete.granularity',
    'write.delete.target-file-size-bytes',
    'write.distribution-mode',
    'write.folder-storage.path',
    'write.format.default',
    'write.manifest.compression-codec',
    'write.metadata.compression-codec',
    'write.metadata.delete-after-commit.enabled',
    'write.metadata.metrics.…',
    'write.metadata.path',
    'write.metadata.previous-versions-max',
    'write.object-storage.enabled',
    'write.object-storage.partitioned-paths',
    'write.object-storage.path',
    'write.spark.accept-any-schema',
    'write.summary.partition-limit',
    'write.target-file-size-bytes',
    'write.wap.enabled',
  ),
  // Read by the name of the command or of the format.
  ...by('`write.${command}.mode`', 'write.delete.mode', 'write.update.mode', 'write.merge.mode'),
  ...by(
    '`write.${command}.isolation-level`',
    'write.delete.isolation-level',
    'write.update.isolation-level',
    'write.merge.isolation-level',
  ),
  ...by(
    '`write.${format}.compression-codec`',
    'write.parquet.compression-codec',
    'write.avro.compression-codec',
    'write.orc.compression-codec',
  ),
  ...idle(
    inside,
    'write.delete.parquet.…',
    'write.delete.orc.…',
    'write.delete.avro.…',
    'write.orc.…',
    'write.parquet.bloom-filter-…',
    'write.parquet.compression-level',
    'write.parquet.dict-size-bytes',
    'write.parquet.page-row-limit',
    'write.parquet.page-size-bytes',
    'write.parquet.row-group-…',
    'write.parquet.shred-variants',
    'write.parquet.stats-enabled.…',
    'write.parquet.variant-inference-buffer-size',
  ),
  ...idle(
    divided,
    'read.…',
    'write.delete.distribution-mode',
    'write.merge.distribution-mode',
    'write.spark.advisory-partition-size-bytes',
    'write.spark.fanout.enabled',
    'write.update.distribution-mode',
    'write.upsert.enabled',
  ),
  ...idle('of Hive, and of catalogs that are not here', 'engine.hive.enabled', 'engine.hive.lock-enabled'),
  ...idle('manifests inherit the ids of snapshots in any case', 'compatibility.snapshot-id-inheritance.enabled'),
  refused('encryption.…', never, 'tables with encrypted files are neither read nor written'),
  refused(
    'write.location-provider.impl',
    never,
    'classes cannot be loaded: write.data.path and write.object-storage.enabled say where files go',
  ),
  refused('write.manifest-lists.enabled', /^true$/i, 'snapshots have a manifest list, as version 2 of the format demands'),
];

/** @throws AnalysisException `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY` (0A000) for a property that would be ignored. */
export function refuseIgnored(properties: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(properties)) {
    const cure = knownProperties.find((known) => known.refused?.unless.test(value) === false && isNamed(known.key, key))?.refused?.cure;
    if (cure !== undefined) throw ignored(key, cure);
  }
}

function isNamed(known: string, key: string): boolean {
  return known.endsWith('…') ? key.startsWith(known.slice(0, -1)) : known === key;
}

function ignored(key: string, cure: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY',
    kind: 'unsupported',
    message: `The feature is not supported: the table property ${key} would be ignored.`,
    hint: cure,
    parameters: { property: key, msg: cure },
  });
}
