import { type ServiceError, serviceError } from '../base/errors.ts';
import { keyedSettingsOf } from '../config/keyed-settings.ts';
import { type Drift, definitionDrift, driftText, layoutDrift } from '../config/table-drift.ts';
import type { TableSettings } from '../config/table-settings.ts';
import { schemaOfColumns } from '../ingest/column-settings.ts';
import { keyedDecoding } from '../ingest/keyed/deleted-keys.ts';
import type { RowSettings } from '../ingest/settings.ts';
import { requireTransform } from '../ingest/transform/compile-transform.ts';
import { isTransform } from '../ingest/transform/transform-settings.ts';
import type { Logger } from '../observability/logger.ts';
import type { DecodeSpec, StageTask } from '../protocol/sealed-batch.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { Table } from '../table/table.ts';

/**
 * Compares a table with its declaration, when its ingest starts and whenever the table's layout is another one: a difference stops the
 * ingest, or is accepted and named (`tables[].onDrift`).
 */
export class DriftWatch {
  readonly #settings: TableSettings;
  readonly #route: RowSettings;
  readonly #logger: Logger;
  readonly #named = new Set<string>();
  #definition: readonly Drift[] = [];
  #layout: readonly Drift[] = [];

  /** `route`: of the records that fill the table. */
  constructor(settings: TableSettings, route: RowSettings, logger: Logger) {
    this.#settings = settings;
    this.#route = route;
    this.#logger = logger;
  }

  /** All there are, a line each. */
  get differences(): readonly string[] {
    return [...this.#layout, ...this.#definition].map(driftText);
  }

  /**
   * What its batches are staged by as the table is now.
   *
   * @throws ServiceError `TABLE_DRIFT` (kind invalid) naming all differences that are not accepted, `TRANSFORM_INVALID` as `requireTransform`.
   */
  async start(table: Pick<Table, 'detail' | 'refresh' | 'writeSpec'>, signal?: AbortSignal): Promise<Pick<StageTask, 'write' | 'decode'>> {
    const detail = await table.detail(signal);
    const write = table.writeSpec(await table.refresh(signal));
    this.#definition = definitionDrift(this.#settings, detail);
    this.#layout = layoutDrift(this.#settings, write);
    this.#judge([...this.#layout, ...this.#definition]);
    return { write, decode: decodeSpecOf(this.#settings, this.#route, write) };
  }

  /** How payloads fill the table as it is now. @throws as `start`. */
  decodeSpec(write: WriteSpec): DecodeSpec {
    this.#layout = layoutDrift(this.#settings, write);
    this.#judge(this.#layout);
    return decodeSpecOf(this.#settings, this.#route, write);
  }

  #judge(drifts: readonly Drift[]): void {
    const { name: table, onDrift } = this.#settings;
    const refused = drifts.filter(({ harmless }) => onDrift === 'fail' && !harmless);
    if (refused.length > 0) throw drifted(table, refused);
    for (const drift of drifts) {
      // What its records have made of the table was said when they did.
      if (this.#settings.evolve !== undefined && drift.harmless && ofColumns.has(drift.kind)) continue;
      const text = driftText(drift);
      if (this.#named.has(text)) continue;
      this.#named.add(text);
      const { kind, name, configured, has } = drift;
      this.#logger.warn('table differs from its configuration and is taken as it is', { table, kind, name, configured, has });
    }
  }
}

const ofColumns: ReadonlySet<Drift['kind']> = new Set(['added-column', 'type', 'nullability']);

/**
 * How payloads fill the table as it is: its columns in its order, each from where the configuration says; a column that the
 * configuration does not name takes the payload's member of the same name. With a transform records are decoded to the columns of the route, or of the
 * table where it has none.
 */
export function decodeSpecOf(settings: TableSettings, route: RowSettings, write: WriteSpec): DecodeSpec {
  const spec = rowsSpecOf(settings, route, write);
  return settings.keyed === undefined ? spec : keyedDecoding(spec, keyedSettingsOf(settings.keyed, route), write.schema);
}

function rowsSpecOf(settings: TableSettings, route: RowSettings, write: WriteSpec): DecodeSpec {
  const { unknownMembers } = settings;
  const { value, key, columns } = route;
  const ofTable = write.schema.fields.map((field) => settings.sources.get(field.name) ?? ({ kind: 'value', name: field.name } as const));
  if (!isTransform(route)) return { sources: ofTable, unknownMembers, value, key };
  const record = columns === undefined ? write.schema : schemaOfColumns(columns);
  const transform = requireTransform(settings.name, route, { record, table: write.schema });
  return { sources: columns?.map(({ source }) => source) ?? ofTable, unknownMembers, value, key, transform };
}

function drifted(table: string, drifts: readonly Drift[]): ServiceError {
  return serviceError.invalid(
    'TABLE_DRIFT',
    `table "${table}" is not what its configuration declares: ${drifts.map(driftText).join('; ')}`,
    {
      hint: 'mend one of the two and start again, or take the table as it is with tables[].onDrift: warn',
      context: { table, differences: drifts.length },
    },
  );
}
