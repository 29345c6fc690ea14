import type { Expression } from '../../expr/expression.ts';
import { replaceColumns } from './pruning.ts';
import type { UsedSource } from './query-context.ts';
import type { RelationRows } from './query-tools.ts';

/** The rows of a table or view a query uses. Conditions on them are kept for its scan, under the source's own names. */
export function sourceRows(source: UsedSource): RelationRows {
  const { fields } = source.schema;
  const all = [...fields, ...source.hidden];
  const prune = (condition: Expression): void => {
    const filter = replaceColumns(condition, (column) => {
      const [index = '', ...members] = column.path;
      const field = all[Number(index)];
      return field === undefined ? undefined : { kind: 'column', path: [field.name, ...members], type: column.type };
    });
    if (filter !== undefined) source.filters.push(filter);
  };
  return { fields, hidden: source.hidden, print: () => `(${source.sql()})`, prune, metadata: source };
}
