import { serviceError } from '../../base/errors.ts';
import { type Item, isNull } from './notation.ts';
import type { ValueWriter } from './scalars.ts';

/**
 * The writer of values that the schema says are never null.
 *
 * @throws ServiceError `CDF_NULL_IN_REQUIRED` (kind corrupt), from the writer.
 */
export function requiredWriter(item: Item): ValueWriter {
  const { write, validity, column } = item;
  if (validity === undefined) return write;
  return (out, index) => {
    if (isNull(item, index)) {
      throw serviceError.corrupt('CDF_NULL_IN_REQUIRED', `column "${column}" holds a null where the table's schema allows none`, {
        hint: 'let the table’s schema allow nulls in the column, or publish it as JSON, which can tell them',
      });
    }
    write(out, index);
  };
}
