import { assertNever } from '../../base/assert.ts';
import type { DivisionKey } from '../../protocol/division.ts';

/** What people call it: `member "type"`. */
export function keyText(key: DivisionKey): string {
  switch (key.kind) {
    case 'member':
      return `member "${key.path.join('.')}"`;
    case 'header':
      return `header "${key.name}"`;
    case 'record-type':
      return 'record type';
    case 'topic':
      return 'topic';
    default:
      return assertNever(key);
  }
}
