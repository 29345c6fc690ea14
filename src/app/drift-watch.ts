import { ServiceError } from '../base/errors.ts';
import { type Drift, definitionDrift, driftText, layoutDrift } from '../config/table-drift.ts';
import type { TableSettings } from '../config/table-settings.ts';
import type { RouteSettings } from '../ingest/settings.ts';
import type { Logger } from '../observability/logger.ts';
import type { DecodeSpec } from '../protocol/sealed-batch.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { Table } from '../table/table.ts';

/**
 * Compares a table with its declaration, when its ingest starts and whenever the table's layout is another one: a difference stops the
 * ingest, or is accepted and named (`tables[].onDrift`).
 */
export class DriftWatch {
  readonly #settings: TableSettings;
  readonly #encodings: Pick<RouteSettings, 'value' | 'key'>;
  readonly #logger: Logger;
  readonly #named = new Set<string>();
  #definition: readonly Drift[] = [];
  #layout: readonly Drift[] = [];

  /** `encodings`: of the records that fill the table. */
  constructor(settings: TableSettings, encodings: Pick<RouteSettings, 'value' | 'key'>, logger: Logger) {
    this.#settings = settings;
    this.#encodings = encodings;
    this.#logger = logger;
  }

  /** All there are, a line each. */
  get differences(): readonly string[] {
    return [...this.#layout, ...this.#definition].map(driftText);
  }

  /** @throws ServiceError `TABLE_DRIFT` (kind invalid) naming all differences that are not accepted. */
  async start(table: Table, signal?: AbortSignal): Promise<void> {
    const detail = await table.detail(signal);
    const write = table.writeSpec(await table.refresh(signal));
    this.#definition = definitionDrift(this.#settings, detail);
    this.#layout = layoutDrift(this.#settings, write);
    this.#judge([...this.#layout, ...this.#definition]);
  }

  /** How payloads fill the table as it is now. @throws as `start`. */
  decodeSpec(write: WriteSpec): DecodeSpec {
    this.#layout = layoutDrift(this.#settings, write);
    this.#judge(this.#layout);
    const { value, key } = this.#encodings;
    return { ...decodeSpecOf(this.#settings, write), value, key };
  }

  #judge(drifts: readonly Drift[]): void {
    const { name: table, onDrift } = this.#settings;
    const refused = drifts.filter(({ harmless }) => onDrift === 'fail' && !harmless);
    if (refused.length > 0) throw drifted(table, refused);
    for (const drift of drifts) {
      const text = driftText(drift);
      if (this.#named.has(text)) continue;
      this.#named.add(text);
      const { kind, name, configured, has } = drift;
      this.#logger.warn('table differs from its configuration and is taken as it is', { table, kind, name, configured, has });
    }
  }
}

/**
 * How payloads fill the table as it is: its columns in its order, each from where the configuration says; a column that the
 * configuration does not name takes the payload's member of the same name.
 */
export function decodeSpecOf(settings: TableSettings, write: WriteSpec): DecodeSpec {
  const sources = write.schema.fields.map((field) => settings.sources.get(field.name) ?? ({ kind: 'value', name: field.name } as const));
  return { sources, unknownMembers: settings.unknownMembers };
}

function drifted(table: string, drifts: readonly Drift[]): ServiceError {
  return new ServiceError({
    code: 'TABLE_DRIFT',
    kind: 'invalid',
    message: `table "${table}" is not what its configuration declares: ${drifts.map(driftText).join('; ')}`,
    hint: 'mend one of the two and start again, or take the table as it is with tables[].onDrift: warn',
    context: { table, differences: drifts.length },
  });
}
