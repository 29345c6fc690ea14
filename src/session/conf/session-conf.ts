import { AnalysisException } from '../../base/analysis-exception.ts';
import { type TimeZone, timeZoneOf } from '../../expr/time-zone.ts';
import { canonicalKey, checkChangeable, checkConfEntry } from './known-keys.ts';

const extensionClasses: ReadonlySet<string> = new Set([
  'io.delta.sql.DeltaSparkSessionExtension',
  'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
]);
const sessionCatalogClasses: ReadonlySet<string> = new Set([
  'org.apache.spark.sql.delta.catalog.DeltaCatalog',
  'org.apache.iceberg.spark.SparkSessionCatalog',
]);

const zoneKey = 'spark.sql.session.timeZone';

/** The configuration of a session: text by key. Keys below `tidewater.sql.` and `tidewater.delta.` are other names of Spark's. */
export class SessionConf {
  readonly #entries = new Map<string, string>();

  /** @throws AnalysisException for an entry that `set` would refuse. */
  constructor(entries: Iterable<readonly [string, string]> = []) {
    for (const [key, value] of entries) this.#put(key, value);
  }

  /**
   * The value of a key, or the fallback.
   *
   * @throws AnalysisException `SQL_CONF_NOT_FOUND` for a key without value when there is no fallback.
   */
  get(key: string, fallback?: string): string {
    const value = this.find(key) ?? fallback;
    if (value !== undefined) return value;
    throw new AnalysisException({
      errorClass: 'SQL_CONF_NOT_FOUND',
      kind: 'not-found',
      message: `The SQL config "${key}" cannot be found. Please verify that the config exists.`,
      parameters: { sqlConf: key },
    });
  }

  /** The zone of local times; `undefined` is UTC. */
  get zone(): TimeZone | undefined {
    const name = this.find(zoneKey);
    return name === undefined ? undefined : timeZoneOf(name);
  }

  find(key: string): string | undefined {
    return this.#entries.get(canonicalKey(key));
  }

  /**
   * Sets a key for what is executed afterwards.
   *
   * @throws AnalysisException `UNKNOWN_CONFIGURATION_KEY`, `INVALID_CONF_VALUE.TYPE_MISMATCH`, `INVALID_CONF_VALUE.TIME_ZONE`, `CANNOT_LOAD_CLASS` for an extension or
   * catalog class that is none of Delta's and Iceberg's.
   */
  set(key: string, value: string | number | bigint | boolean): void {
    if (this.find(key) !== String(value)) checkChangeable(key);
    this.#put(key, value);
  }

  #put(key: string, value: string | number | bigint | boolean): void {
    const text = String(value);
    checkConfEntry(key, text);
    const canonical = canonicalKey(key);
    checkClasses(canonical, text);
    if (canonical === zoneKey && timeZoneOf(text) === undefined) throw unknownZone(text);
    this.#entries.set(canonical, text);
  }

  unset(key: string): void {
    checkChangeable(key);
    this.#entries.delete(canonicalKey(key));
  }

  /** A switch; `undefined` when it is not set. */
  switch(key: string): boolean | undefined {
    const value = this.find(key)?.toLowerCase();
    return value === undefined ? undefined : value === 'true';
  }

  /** A size in bytes, of text such as `512mb`, `2g` (units of 1,024); `undefined` when it is not set. */
  bytes(key: string): number | undefined {
    const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)/i.exec(this.find(key) ?? '');
    return match === null ? undefined : Math.floor(Number(match[1]) * 1024 ** ' kmgt'.indexOf((match[2] ?? '').toLowerCase() || ' '));
  }

  /** All entries below a prefix, the prefix cut off, by key. */
  below(prefix: string): ReadonlyMap<string, string> {
    return new Map(this.entries().flatMap(([key, value]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [])));
  }

  /** All entries by key. */
  entries(): readonly (readonly [string, string])[] {
    return [...this.#entries].toSorted(([left], [right]) => (left < right ? -1 : 1));
  }
}

function checkClasses(key: string, value: string): void {
  if (key === 'spark.sql.extensions') {
    for (const name of value.split(',').map((part) => part.trim()))
      if (name !== '' && !extensionClasses.has(name)) throw unknownClass(key, name, extensionClasses);
  }
  if (key === 'spark.sql.catalog.spark_catalog' && !sessionCatalogClasses.has(value)) throw unknownClass(key, value, sessionCatalogClasses);
}

function unknownZone(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_CONF_VALUE.TIME_ZONE',
    message: `The value '${name}' in the config "${zoneKey}" is invalid. Cannot resolve the given timezone.`,
    hint: "write a region as 'Europe/Berlin' (letters as the zone database has them) or an offset as '+02:00'",
    parameters: { confName: zoneKey, confValue: name },
  });
}

function unknownClass(key: string, name: string, known: ReadonlySet<string>): AnalysisException {
  return new AnalysisException({
    errorClass: 'CANNOT_LOAD_CLASS',
    message: `"${key}" names the class "${name}", which is not one this session knows`,
    hint: `known classes: ${[...known].join(', ')}`,
    parameters: { key, className: name },
  });
}
