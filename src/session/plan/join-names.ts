import { invalidArgument } from '../session-errors.ts';
import type { JoinKind } from './plan.ts';

/** Kinds of joins by the names users know, without underscores. */
const joinNames: Readonly<Record<string, JoinKind>> = {
  inner: 'inner',
  cross: 'cross',
  outer: 'full',
  full: 'full',
  fullouter: 'full',
  left: 'left',
  leftouter: 'left',
  right: 'right',
  rightouter: 'right',
  semi: 'semi',
  leftsemi: 'semi',
  anti: 'anti',
  leftanti: 'anti',
};

/** @throws AnalysisException `INVALID_ARGUMENT` for a name that is none. */
export function joinKind(name: string): JoinKind {
  const kind = joinNames[name.toLowerCase().replaceAll('_', '')];
  if (kind !== undefined) return kind;
  throw invalidArgument(`join type "${name}" is unknown`, `one of ${Object.keys(joinNames).join(', ')}`);
}
