import type { ChangeFile } from '../table/changes.ts';

export type Phase = 'removals' | 'additions';

/** The rows one file gives in one phase. */
export interface Segment {
  readonly file: ChangeFile;
  readonly phase: Phase;
}

/** The version's row order: what is taken away by any file, then what is added by any file. */
export function segmentsOf(files: readonly ChangeFile[]): readonly Segment[] {
  const removals = files.filter((file) => file.kind !== 'insert').map((file): Segment => ({ file, phase: 'removals' }));
  const additions = files.filter((file) => file.kind !== 'delete').map((file): Segment => ({ file, phase: 'additions' }));
  return [...removals, ...additions];
}
