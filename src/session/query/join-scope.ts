import { AnalysisException } from '../../base/analysis-exception.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import type { NameScope, ScopeEntry, VisibleColumn } from './scope.ts';
import type { FromItem, JoinForm } from './select-tree.ts';

export interface JoinSides {
  readonly left: NameScope;
  readonly right: NameScope;
  readonly form: JoinForm;
}

interface MergedJoin {
  /** Names for the join's own condition. */
  readonly inside: NameScope;
  /** Names for everything behind the join. */
  readonly outside: NameScope;
  /** The condition that USING or NATURAL stands for. */
  readonly on: Expression | undefined;
}

/** @throws AnalysisException `UNRESOLVED_USING_COLUMN_FOR_JOIN` 42703, `AMBIGUOUS_REFERENCE` 42704. */
export function mergedJoin(sides: JoinSides, join: Extract<FromItem, { kind: 'join' }>, parent: NameScope | undefined): MergedJoin {
  const { left, right, form } = sides;
  const using = join.natural ? commonNames(left, right) : (join.using ?? []);
  const pairs = using.map((name) => ({ left: columnNamed(left, name, 'left'), right: columnNamed(right, name, 'right') }));
  const on = conjunction(
    pairs.map((pair): Expression => ({ kind: 'binary', operator: '=', left: pair.left.value, right: pair.right.value })),
  );
  const inside: NameScope = { entries: [...left.entries, ...right.entries], visible: [...left.visible, ...right.visible], parent };
  if (form === 'semi' || form === 'anti') return { inside, outside: left, on };
  const merged = pairs.map((pair): VisibleColumn => mergedColumn(pair.left, pair.right, form));
  const others = (columns: readonly VisibleColumn[], taken: readonly VisibleColumn[]): readonly VisibleColumn[] =>
    columns.filter((column) => !taken.includes(column));
  const visible = [
    ...merged,
    ...others(
      left.visible,
      pairs.map((pair) => pair.left),
    ),
    ...others(
      right.visible,
      pairs.map((pair) => pair.right),
    ),
  ];
  const leftKept = form === 'right' || form === 'full' ? left.entries.map(unpruned) : left.entries;
  const rightKept = form === 'left' || form === 'full' ? right.entries.map(unpruned) : right.entries;
  return { inside, outside: { entries: [...leftKept, ...rightKept], visible, parent }, on };
}

// Behind an outer join a row of this side may be one of nulls: conditions on it say nothing about the rows that were read.
function unpruned(entry: ScopeEntry): ScopeEntry {
  return { ...entry, prune: () => undefined };
}

function mergedColumn(left: VisibleColumn, right: VisibleColumn, form: JoinForm): VisibleColumn {
  if (form === 'right') return { ...right, field: { ...right.field, name: left.field.name } };
  if (form !== 'full') return left;
  return { field: left.field, alias: undefined, value: { kind: 'call', name: 'coalesce', arguments: [left.value, right.value] } };
}

function commonNames(left: NameScope, right: NameScope): readonly string[] {
  const names = new Set(right.visible.map((column) => column.field.name.toLowerCase()));
  return left.visible.map((column) => column.field.name).filter((name) => names.has(name.toLowerCase()));
}

function columnNamed(scope: NameScope, name: string, side: 'left' | 'right'): VisibleColumn {
  const [found, ...others] = scope.visible.filter((column) => column.field.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined && others.length === 0) return found;
  if (found !== undefined) {
    throw new AnalysisException({
      errorClass: 'AMBIGUOUS_REFERENCE',
      sqlState: '42704',
      message: `Reference \`${name}\` is ambiguous on the ${side} side of the join.`,
    });
  }
  const { parameters } = unresolvedColumn([name], [{ schema: { kind: 'struct', fields: scope.visible.map((column) => column.field) } }]);
  throw new AnalysisException({
    errorClass: 'UNRESOLVED_USING_COLUMN_FOR_JOIN',
    sqlState: '42703',
    message: `USING column \`${name}\` cannot be resolved on the ${side} side of the join. The ${side}-side columns: [${parameters['proposal'] ?? ''}].`,
    parameters: { colName: `\`${name}\``, side },
  });
}
