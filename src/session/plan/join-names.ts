import type { JoinKind } from './plan.ts';

/** Kinds of joins by the names users know, without underscores. */
export const joinNames: Readonly<Record<string, JoinKind>> = {
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
