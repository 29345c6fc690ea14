import type { Version } from '../table/version.ts';

/** `error`: what is promised does not hold. `warning`: others changed rows or marks. `note`: an operator's decision, worth knowing. */
export type AuditSeverity = 'error' | 'warning' | 'note';

export type AuditRule =
  | 'gap'
  | 'overlap'
  | 'balance'
  | 'row-count'
  | 'mark'
  | 'unaccounted'
  | 'decision'
  | 'incarnation'
  | 'second-pipeline'
  | 'history'
  | 'total'
  | 'file'
  | 'rows'
  | 'duplicates'
  | 'strangers';

export interface AuditFinding {
  readonly level: AuditSeverity;
  /** `undefined`: of no version of its own. */
  readonly version: Version | undefined;
  readonly rule: AuditRule;
  readonly text: string;
}

/** Findings that are told one by one; of more only the number is. */
const maxTold = 1_000;

/** What an audit found, in bounded memory. */
export class AuditFindings {
  readonly #told: AuditFinding[] = [];
  readonly #counts: Record<AuditSeverity, number> = { error: 0, warning: 0, note: 0 };

  add(...findings: readonly AuditFinding[]): void {
    for (const finding of findings) {
      this.#counts[finding.level] += 1;
      if (this.#told.length < maxTold) this.#told.push(finding);
    }
  }

  get told(): readonly AuditFinding[] {
    return this.#told;
  }

  /** Findings beyond those that are told. */
  get untold(): number {
    return this.#counts.error + this.#counts.warning + this.#counts.note - this.#told.length;
  }

  count(level: AuditSeverity): number {
    return this.#counts[level];
  }
}
