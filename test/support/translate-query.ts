import type { Engine } from '../../src/engine/engine.ts';
import type { ParameterValues } from '../../src/expr/bind-parameters.ts';
import { conjunction, type Expression } from '../../src/expr/expression.ts';
import type { Field, StructType } from '../../src/schema/types.ts';
import { analyzePlan } from '../../src/session/analyze/analyze.ts';
import { lowerPlan } from '../../src/session/lower/lower.ts';
import { schemaOf } from '../../src/session/plan/analyzed.ts';
import { Execution } from '../../src/session/run/execution.ts';
import type { SessionRuntime } from '../../src/session/run/session-runtime.ts';
import type { Relation } from '../../src/table/relation.ts';
import type { FileScan } from '../../src/table/scan.ts';
import type { QueryableTable, Snapshot } from '../../src/table/table.ts';

/** A table that a query names, as it is asked for. */
export interface Reference {
  readonly parts: readonly string[];
  readonly at?: unknown;
  readonly changes?: unknown;
}

/** What a test gives for a table. */
export interface GivenTable {
  readonly schema: StructType;
  /** Columns that no star shows. */
  readonly hidden?: readonly Field[] | undefined;
  /** Its rows; `filter`: what the query says of all rows that it uses. */
  readonly relation: (filter: Expression | undefined) => Promise<Relation>;
}

export interface TranslateOptions {
  readonly engine: Engine;
  readonly now: { readonly micros: bigint };
  readonly parameters?: ParameterValues | undefined;
  readonly resolve: (reference: Reference) => Promise<GivenTable>;
}

/** A query in SQL over tables that a test gives: its columns, and its rows as a relation of the engine. */
export async function translateQuery(
  text: string,
  { engine, now, parameters, resolve }: TranslateOptions,
): Promise<{ readonly schema: StructType; relation(): Promise<Relation> }> {
  const opened = new Map<FileScan, Relation>();
  const select = async ({ parts = [] }: { readonly parts?: readonly string[] }): Promise<{ readonly table: QueryableTable }> => ({
    table: (await GivenQueryable.open(parts, resolve, opened)) as unknown as QueryableTable,
  });
  const runtime = {
    now: () => now,
    conf: { switch: () => false },
    tables: { referenceOf: (parts: readonly string[]) => ({ kind: 'name', parts }), select },
  } as unknown as SessionRuntime;
  const execution = new Execution(runtime, scanning(engine, opened), undefined);
  const analyzed = await analyzePlan(execution, { kind: 'query', text, parameters, views: new Map() });
  return { schema: schemaOf(analyzed.attributes), relation: () => lowerPlan(execution, analyzed) };
}

/** The engine, for which the scans of given tables are their relations. */
function scanning(engine: Engine, opened: ReadonlyMap<FileScan, Relation>): Engine {
  return new Proxy(engine, {
    get: (target, key) => {
      if (key === 'scan') return (scan: FileScan) => Promise.resolve({ ...opened.get(scan), dispose: () => Promise.resolve() });
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const millisPerDay = 86_400_000;

/** As much of a table as a query asks for. Its versions are days. */
class GivenQueryable {
  readonly name: string;
  readonly format = 'delta';
  readonly #parts: readonly string[];
  readonly #resolve: TranslateOptions['resolve'];
  readonly #opened: Map<FileScan, Relation>;
  #given: GivenTable;
  #point: unknown;

  private constructor(parts: readonly string[], resolve: TranslateOptions['resolve'], opened: Map<FileScan, Relation>, given: GivenTable) {
    this.name = parts.join('.');
    this.#parts = parts;
    this.#resolve = resolve;
    this.#opened = opened;
    this.#given = given;
  }

  static async open(
    parts: readonly string[],
    resolve: TranslateOptions['resolve'],
    opened: Map<FileScan, Relation>,
  ): Promise<GivenQueryable> {
    return new GivenQueryable(parts, resolve, opened, await resolve({ parts }));
  }

  refresh(): Promise<Snapshot> {
    return Promise.resolve(this.#snapshot());
  }

  snapshotAt(): Promise<Snapshot> {
    return this.refresh();
  }

  async findSnapshot(at: unknown): Promise<Snapshot> {
    this.#point = at;
    this.#given = await this.#resolve({ parts: this.#parts, at });
    return this.#snapshot();
  }

  versionAt(ms: number): Promise<number> {
    return Promise.resolve(ms / millisPerDay);
  }

  hiddenColumns(): readonly { readonly field: Field }[] {
    return (this.#given.hidden ?? []).map((field) => ({ field }));
  }

  extent(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async scan(
    _: Snapshot,
    { filter, hiddenFilter }: { readonly filter?: Expression | undefined; readonly hiddenFilter?: Expression | undefined },
  ): Promise<FileScan> {
    const scan = { statistics: {} } as FileScan;
    this.#opened.set(scan, await this.#given.relation(conjunction([hiddenFilter, filter].flatMap((each) => each ?? []))));
    return scan;
  }

  async *changeScans(changes: { readonly from: number; readonly until: number }): AsyncGenerator<never, void, undefined> {
    const given = await this.#resolve({ parts: this.#parts, at: this.#point, changes });
    await given.relation(undefined);
    yield* [];
  }

  #snapshot(): Snapshot {
    return { tableId: 'given', version: 1_000_000, schema: this.#given.schema } as unknown as Snapshot;
  }
}
