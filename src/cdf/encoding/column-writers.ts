import { assert, assertNever } from '../../base/assert.ts';
import type { Column } from '../../schema/columns.ts';
import type { EventField, EventType } from './event-type.ts';
import type { Item, Member, Notation, Written } from './notation.ts';
import { scalarOf } from './scalars.ts';
import type { ValueForms } from './value-forms.ts';

/** In which encoding values are told, and in which of its forms. */
export interface ValueEncoding {
  readonly notation: Notation;
  readonly forms: ValueForms;
}

/** How the values of one column are appended: decided once a column, so that a row costs no decision. */
export function memberOf(field: EventField, column: Column, encoding: ValueEncoding): Member {
  const { name, number, optional } = field;
  return { name, number, ...itemOf({ type: field.type, optional, column: name }, column, encoding) };
}

function itemOf(
  of: { readonly type: EventType; readonly optional: boolean; readonly column: string },
  column: Column,
  encoding: ValueEncoding,
): Item {
  const { type, ...rest } = of;
  return { ...rest, validity: column.validity, ...writtenOf(type, column, { ...encoding, name: of.column }) };
}

function writtenOf(type: EventType, column: Column, encoding: ValueEncoding & { readonly name: string }): Written {
  const { notation, forms, name } = encoding;
  switch (type.kind) {
    case 'scalar':
      assert(column.layout !== 'list' && column.layout !== 'map', `column "${name}" has no parts`);
      return notation.scalar(scalarOf(column, forms), type);
    case 'struct':
      assert(column.layout === 'struct', `column "${name}" is a struct`);
      return notation.struct(membersOf(type.fields, column.children, encoding));
    case 'list': {
      const items = { type: type.element, optional: type.elementOptional, column: name };
      if (column.layout === 'list') return notation.list(itemOf(items, column.element, encoding), column.offsets);
      assert(column.layout === 'map' && type.element.kind === 'struct', `column "${name}" is a list or a map`);
      const entry = notation.struct(membersOf(type.element.fields, [column.keys, column.values], encoding));
      return notation.list({ ...entry, validity: undefined, optional: false, column: name }, column.offsets);
    }
    case 'map': {
      assert(column.layout === 'map', `column "${name}" is a map`);
      const { keys, values, offsets } = column;
      assert(keys.layout !== 'list' && keys.layout !== 'map', `keys of column "${name}" have no parts`);
      const items = { type: type.value, optional: type.valueOptional, column: name };
      return notation.map(scalarOf(keys, forms), itemOf(items, values, encoding), offsets);
    }
    default:
      return assertNever(type);
  }
}

function membersOf(fields: readonly EventField[], columns: readonly Column[], encoding: ValueEncoding): readonly Member[] {
  return fields.flatMap((field, position) => {
    const column = columns[position];
    return column === undefined ? [] : [memberOf(field, column, encoding)];
  });
}
