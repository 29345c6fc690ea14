import { quoteName, typeSql } from '../../expr/sql/engine-text.ts';
import type { HiddenColumn } from '../../table/hidden-columns.ts';
import type { FileScan } from '../../table/scan.ts';
import { placeSql, type ScanGroup } from './scan-groups.ts';
import type { TrackedRows } from './tracked-rows-sql.ts';

/** What hidden columns add to the SELECT of a group's files. */
export interface HiddenParts {
  /** Joined to the files; empty when no value is the files'. */
  readonly join: string;
  /** Named. */
  readonly columns: readonly string[];
}

/**
 * @param sources.facts table of what the files say of themselves (`factsSchema`).
 * @param sources.tracked of the group, when a hidden column is of row tracking and the scan knows it; else such columns are null.
 */
export function hiddenParts(
  scan: FileScan,
  group: ScanGroup,
  sources: { readonly facts: string | undefined; readonly tracked: TrackedRows | undefined },
): HiddenParts {
  const { file, position } = placeSql(group);
  const places = new Map(scan.facts?.schema.fields.map((field, index) => [field.name, `h.c${index}`]));
  const valueSql = ({ field, value }: HiddenColumn): string => {
    switch (value.kind) {
      case 'of-file':
        return places.get(field.name) ?? nullSql(field);
      case 'position':
        return `CAST(${position} AS BIGINT)`;
      case 'row-id':
        return sources.tracked?.rowId ?? nullSql(field);
      case 'commit-version':
        return sources.tracked?.commitVersion ?? nullSql(field);
      case 'struct':
        return `struct_pack(${value.members.map((member) => `${quoteName(member.field.name)} := ${valueSql(member)}`).join(', ')})`;
    }
  };
  return {
    join: sources.facts === undefined ? '' : ` JOIN ${sources.facts} AS h ON ${file} = h.file`,
    columns: (scan.hidden ?? []).map((column) => `${valueSql(column)} AS ${quoteName(column.field.name)}`),
  };
}

/** Whether one of the columns, or a member of one, is of row tracking. */
export function needsTracking(hidden: readonly HiddenColumn[] = []): boolean {
  return hidden.some(({ value }) => {
    if (value.kind === 'struct') return needsTracking(value.members);
    return value.kind === 'row-id' || value.kind === 'commit-version';
  });
}

function nullSql({ type }: HiddenColumn['field']): string {
  return `CAST(NULL AS ${typeSql(type)})`;
}
