import { isServiceError } from '../base/errors.ts';
import { type EvolutionPolicy, type EvolutionSpec, needText, type TableNeed } from '../protocol/table-needs.ts';
import { describeFields } from '../schema/describe-type.ts';
import type { StructType } from '../schema/types.ts';
import type { DefinitionChange, DefinitionOperations } from '../table/definition-changes.ts';
import { traitsOf } from '../table/formats.ts';
import type { OpenTable } from '../table/table.ts';

/** What of a table changes. */
export interface EvolvingTable extends Pick<OpenTable, 'format' | 'refresh'> {
  readonly operations: DefinitionOperations;
}

export interface EvolutionObserver {
  /** The table changed so. */
  evolved(need: TableNeed): void;
  /** The table does not change so: what records have for it stays without a place. */
  notEvolved(what: string, why: string): void;
}

/** More refusals are forgotten from the first on, and asked again. */
const maxRefused = 1_000;

/**
 * Changes one table as its records call for. Changes are commits of the format's own: one that lost against another process is looked at again, as the
 * table is then; one that the table does not take is remembered, so that no batch asks again.
 */
export class TableEvolution {
  readonly #table: EvolvingTable;
  readonly #policy: EvolutionPolicy;
  readonly #observer: EvolutionObserver;
  readonly #refused = new Set<string>();
  readonly #told = new Set<string>();

  constructor(table: EvolvingTable, policy: EvolutionPolicy, observer: EvolutionObserver) {
    this.#table = table;
    this.#policy = policy;
    this.#observer = observer;
  }

  get spec(): EvolutionSpec {
    const { timesOfDay, anyNames, reservedNames, smallIntegers } = traitsOf[this.#table.format];
    return { ...this.#policy, timesOfDay, anyNames, reservedNames, smallIntegers, refused: [...this.#refused] };
  }

  /**
   * Makes what changes the table takes. `written`: the columns that the needs are of; when others have changed the table since, what is left is for those
   * who look at it again.
   *
   * @throws what the format throws for faults that are not the change's: an unreachable store, an unknown outcome.
   */
  async apply(needs: readonly TableNeed[], written: StructType, signal?: AbortSignal): Promise<void> {
    const adds = needs.filter((need) => need.kind === 'add-column');
    const others = needs.filter((need) => need.kind !== 'add-column');
    // Columns that come together are one version, unless one of them is refused.
    const together = adds.length > 1 && (await this.#tryChange(adds, addition(adds), signal)) === 'changed';
    for (const need of together ? others : needs) {
      const outcome = await this.#tryChange([need], need.kind === 'add-column' ? addition([need]) : changeOf(need), signal);
      if (outcome === 'changed') continue;
      const { schema } = await this.#table.refresh(signal);
      if (outcome === 'conflict' || describeFields(schema.fields) !== describeFields(written.fields)) return;
      this.#refuse(need, outcome.refused);
    }
  }

  /** Says once what no change would make room for. */
  tell(left: readonly { readonly name: string; readonly why: string }[]): void {
    for (const { name, why } of left) this.#tellOnce(`member "${name}"`, why);
  }

  #refuse(need: TableNeed, why: string): void {
    if (this.#refused.size >= maxRefused) this.#refused.clear();
    this.#refused.add(needText(need));
    this.#tellOnce(needText(need), why);
  }

  async #tryChange(
    needs: readonly TableNeed[],
    change: DefinitionChange,
    signal: AbortSignal | undefined,
  ): Promise<'changed' | 'conflict' | { readonly refused: string }> {
    try {
      await this.#table.operations.alter(change, { signal });
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (error.kind === 'conflict') return 'conflict';
      if (!refusals.has(error.kind)) throw error;
      return { refused: error.message };
    }
    for (const need of needs) this.#observer.evolved(need);
    return 'changed';
  }

  #tellOnce(what: string, why: string): void {
    if (this.#told.has(what) || this.#told.size >= maxRefused) return;
    this.#told.add(what);
    this.#observer.notEvolved(what, why);
  }
}

const refusals: ReadonlySet<string> = new Set(['invalid', 'unsupported', 'not-found']);

function addition(needs: readonly (TableNeed & { readonly kind: 'add-column' })[]): DefinitionChange {
  return { kind: 'add-columns', columns: needs.map(({ parent, field }) => ({ parent, field })) };
}

function changeOf(need: TableNeed & { readonly kind: 'widen' | 'relax' }): DefinitionChange {
  return need.kind === 'widen'
    ? { kind: 'change-type', path: need.path, type: need.type }
    : { kind: 'change-nullability', path: need.path, nullable: true };
}
