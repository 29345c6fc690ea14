import { unsupportedFeature } from '../../base/unsupported-feature.ts';
import type { QueryableTable } from '../../table/table.ts';
import type { ReadPoint } from '../plan/plan.ts';

/** What a name says beyond the table: a table about it, or a point in its history. */
export interface TableSelector {
  /** Such as `snapshots`. */
  readonly metadataTable?: string | undefined;
  readonly at?: ReadPoint | undefined;
  readonly branch?: string | undefined;
  /** The changes of all its snapshots. */
  readonly changelog?: boolean | undefined;
}

const selectors: readonly (readonly [RegExp, (text: string) => TableSelector])[] = [
  [/^branch_(.+)$/, (name) => ({ branch: name, at: { kind: 'branch', name } })],
  [/^tag_(.+)$/, (name) => ({ at: { kind: 'tag', name } })],
  [/^snapshot_id_(\d{1,19})$/, (id) => ({ at: { kind: 'snapshot-id', id: BigInt(id) } })],
  [/^at_timestamp_(\d{1,15})$/, (millis) => ({ at: { kind: 'timestamp', micros: BigInt(millis) * 1000n, text: millis } })],
];

/** The selector that the last part of a name may be: `t.snapshots`, `t.branch_audit`, `t.tag_v1`, `t.snapshot_id_123`, `t.at_timestamp_456`. */
export function selectorOf(table: QueryableTable, part: string): TableSelector | undefined {
  for (const [pattern, make] of selectors) {
    const text = pattern.exec(part)?.[1];
    if (text !== undefined && table.onBranch !== undefined) return make(text);
  }
  const name = part.toLowerCase();
  if (name === 'changes' && table.changelog !== undefined) return { changelog: true };
  return table.metadataTables.includes(name) ? { metadataTable: name } : undefined;
}

/**
 * The table that a statement writes to.
 *
 * @throws AnalysisException `UNSUPPORTED_FEATURE` for a name that is read only.
 */
export function writableTable(table: QueryableTable, selector: TableSelector, part: string): QueryableTable {
  if (selector.branch !== undefined && table.onBranch !== undefined) return table.onBranch(selector.branch);
  throw unsupportedFeature(
    selector.at?.kind === 'tag'
      ? `${selector.at.name} is a tag, not a branch. Tags cannot be targets for producing snapshots`
      : `"${part}" of table ${table.name} can only be read`,
    {
      hint: 'change the table itself, or a branch of it as table.branch_name',
    },
  );
}
