import type { Expression } from '../expr/expression.ts';
import type { MergeClause } from '../table/row-operations.ts';
import { resultFrame } from './commands/command-result.ts';
import { type CommandTarget, mergeCommand } from './commands/row-commands.ts';
import type { DataFrame } from './data-frame.ts';
import { assignmentsOf, type ConditionInput, conditionOf, type SetInput } from './delta-inputs.ts';
import type { Plan } from './plan/plan.ts';

interface MergeParts {
  readonly target: CommandTarget;
  readonly alias: string | undefined;
  readonly source: Plan;
  readonly condition: Expression;
  readonly clauses?: readonly MergeClause[] | undefined;
  readonly schemaEvolution?: boolean | undefined;
}

/** A clause of a merge with columns: what is set, and for which rows. */
export interface MergeSet {
  readonly condition?: ConditionInput | undefined;
  readonly set: SetInput;
}

/** A clause that inserts. */
export interface MergeValues {
  readonly condition?: ConditionInput | undefined;
  readonly values: SetInput;
}

/** Of several clauses of a kind, the first whose condition holds is applied to a row. Immutable. */
export class DeltaMergeBuilder {
  readonly #parts: MergeParts;

  constructor(parts: MergeParts) {
    this.#parts = parts;
  }

  whenMatchedUpdate({ condition, set }: MergeSet): DeltaMergeBuilder {
    return this.#clause({ on: 'matched', action: 'update', condition: optional(condition), assignments: assignmentsOf(set) });
  }

  /** Every column from the source column of the same name. */
  whenMatchedUpdateAll(condition?: ConditionInput): DeltaMergeBuilder {
    return this.#clause({ on: 'matched', action: 'update', condition: optional(condition), assignments: 'all' });
  }

  whenMatchedDelete(condition?: ConditionInput): DeltaMergeBuilder {
    return this.#clause({ on: 'matched', action: 'delete', condition: optional(condition) });
  }

  whenNotMatchedInsert({ condition, values }: MergeValues): DeltaMergeBuilder {
    return this.#clause({ on: 'not-matched', action: 'insert', condition: optional(condition), values: assignmentsOf(values) });
  }

  whenNotMatchedInsertAll(condition?: ConditionInput): DeltaMergeBuilder {
    return this.#clause({ on: 'not-matched', action: 'insert', condition: optional(condition), values: 'all' });
  }

  whenNotMatchedBySourceUpdate({ condition, set }: MergeSet): DeltaMergeBuilder {
    return this.#clause({ on: 'not-matched-by-source', action: 'update', condition: optional(condition), assignments: assignmentsOf(set) });
  }

  whenNotMatchedBySourceDelete(condition?: ConditionInput): DeltaMergeBuilder {
    return this.#clause({ on: 'not-matched-by-source', action: 'delete', condition: optional(condition) });
  }

  /** Adds source columns that the table lacks. */
  withSchemaEvolution(): DeltaMergeBuilder {
    return new DeltaMergeBuilder({ ...this.#parts, schemaEvolution: true });
  }

  /**
   * Merges, as one version of the table. Gives `num_affected_rows`, `num_updated_rows`, `num_deleted_rows`, `num_inserted_rows`.
   *
   * @throws AnalysisException `DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE`, `NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION` and its
   * kin, `DELTA_MERGE_MISSING_WHEN` without a clause.
   */
  async execute(): Promise<DataFrame> {
    const { target, alias, source, condition, clauses = [], schemaEvolution } = this.#parts;
    const request = { source, targetAlias: alias, sourceAlias: aliasOf(source), condition, clauses, schemaEvolution };
    return resultFrame(target.runtime, await mergeCommand(target, request));
  }

  #clause(clause: MergeClause): DeltaMergeBuilder {
    return new DeltaMergeBuilder({ ...this.#parts, clauses: [...(this.#parts.clauses ?? []), clause] });
  }
}

/** The name a source was given with `alias`. */
function aliasOf(plan: Plan): string | undefined {
  if (plan.kind === 'frame') return aliasOf(plan.input);
  return plan.kind === 'alias' ? plan.name : undefined;
}

function optional(condition: ConditionInput | undefined): Expression | undefined {
  return condition === undefined ? undefined : conditionOf(condition);
}
