import { assert } from '../../../base/assert.ts';
import { columnName, inColumn, type Rejection, shown } from '../rejection.ts';
import type { JsonCursor } from './json-cursor.ts';

/** Writes up the failure a reader left on the cursor; `start` is where the payload begins. */
export function jsonRejection(cursor: JsonCursor, start: number): Rejection {
  const { failure } = cursor;
  assert(failure !== undefined, 'a refused record must say why');
  const place = inColumn(cursor.path);
  const value = shown(cursor.bytes, failure.from, failure.until);
  const at = `at byte ${failure.from - start}`;
  switch (failure.reason) {
    case 'invalid-json':
      return { reason: failure.reason, message: `${place}not valid JSON ${at}: ${failure.detail}` };
    case 'invalid-utf8':
      return { reason: failure.reason, message: `${place}the text ${at} ${failure.detail}` };
    case 'too-deep':
      return { reason: failure.reason, message: `${place}${failure.detail} ${at}` };
    case 'unknown-member':
    case 'duplicate-member':
      return { reason: failure.reason, message: `${place}member ${value} ${failure.detail}` };
    default: {
      const message = `${place}${value === '' ? '' : `${value} `}${failure.detail}`;
      return { reason: failure.reason, message, ...(failure.reason === 'missing-required' ? { missing: columnName(cursor.path) } : {}) };
    }
  }
}
