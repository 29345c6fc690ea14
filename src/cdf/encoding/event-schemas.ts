import { assertNever } from '../../base/assert.ts';
import type { EncodeTask } from '../../protocol/change-event.ts';
import { eventShape } from '../envelope.ts';
import { keyPositions } from '../row-writers.ts';
import type { EventPart, EventShape } from './event-shape.ts';
import { type EventField, type EventType, rowFields, type StructShape } from './event-type.ts';
import type { ValueForms } from './value-forms.ts';

/** What a version's keys consist of, by the name that Debezium gives it. @throws ServiceError `CDF_KEY_COLUMN_UNKNOWN`. */
export function keySchema({ spec, changes }: EncodeTask, forms: ValueForms): StructShape {
  const fields = rowFields(changes.schema, forms);
  const keys = keyPositions(changes.schema, spec.keyColumns).flatMap((position) => fields[position] ?? []);
  return { kind: 'struct', name: `${spec.topic}.Key`, fields: keys };
}

/** What a version's values consist of, by the names that Debezium gives them. */
export function valueSchema(task: EncodeTask, forms: ValueForms): StructShape {
  const row = { kind: 'struct', name: `${task.spec.topic}.Value`, fields: rowFields(task.changes.schema, forms) } as const;
  return structOf(eventShape(task, task.spec.envelope === 'flat' ? { changeType: 'insert' } : { operation: 'c' }), row);
}

function structOf({ name, version, hasRow, members }: EventShape, row: StructShape): StructShape {
  const own = members.map(({ name: member, number, optional, part }, position): EventField => {
    const type = partType(part, row);
    return { name: member, type, optional: optional === true || part.kind === 'image', number: number ?? position + 1 };
  });
  return { kind: 'struct', name, version, fields: [...(hasRow ? row.fields : []), ...own] };
}

function partType(part: EventPart, row: StructShape): EventType {
  switch (part.kind) {
    case 'text':
    case 'text-and-ordinal':
      return { kind: 'scalar', primitive: 'string' };
    case 'named-text':
      return { kind: 'scalar', primitive: 'string', name: part.name };
    case 'long':
    case 'ordinal':
    case 'event-number':
      return { kind: 'scalar', primitive: 'int64' };
    case 'boolean':
      return { kind: 'scalar', primitive: 'boolean' };
    case 'image':
      return row;
    case 'struct':
      return structOf(part, row);
    case 'none':
      return partType(part.of, row);
    default:
      return assertNever(part);
  }
}
