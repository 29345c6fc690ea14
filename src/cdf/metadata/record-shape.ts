import { assert, assertNever } from '../../base/assert.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import type { EventField, EventType, Primitive, StructShape } from '../encoding/event-type.ts';

/** A field of a record before it has its place. */
type UnplacedField = Omit<EventField, 'number'>;

/** A named struct of version 1, its fields numbered by their places. */
export function shape(name: string, fields: readonly UnplacedField[]): StructShape {
  return { kind: 'struct', name, version: 1, fields: fields.map((field, index) => ({ ...field, number: index + 1 })) };
}

export const required = (name: string, type: Primitive | EventType): UnplacedField => ({ name, type: typeOf(type), optional: false });
export const optional = (name: string, type: Primitive | EventType): UnplacedField => ({ name, type: typeOf(type), optional: true });
export const listOf = (element: Primitive | EventType): EventType => ({ kind: 'list', element: typeOf(element), elementOptional: false });

function typeOf(type: Primitive | EventType): EventType {
  return typeof type === 'string' ? { kind: 'scalar', primitive: type } : type;
}

/** The columns that hold such records. */
export function columnsOf({ fields }: StructShape): StructType {
  return { kind: 'struct', fields: fields.map(({ name, type, optional: nullable }) => ({ name, type: dataType(type), nullable })) };
}

function dataType(type: EventType): DataType {
  switch (type.kind) {
    case 'scalar': {
      const known = plain[type.primitive];
      assert(known !== undefined, `records about a table have no values of type ${type.primitive}`);
      return known;
    }
    case 'struct':
      return columnsOf(type);
    case 'list':
      return { kind: 'list', element: dataType(type.element), elementNullable: type.elementOptional };
    case 'map':
      assert(false, 'records about a table have no maps');
    default:
      return assertNever(type);
  }
}

const plain: Readonly<Partial<Record<Primitive, DataType>>> = {
  boolean: { kind: 'boolean' },
  int32: { kind: 'integer' },
  int64: { kind: 'long' },
  string: { kind: 'string' },
};
