import { assert, assertNever } from '../../base/assert.ts';
import type { EventField, EventType, Primitive, StructShape } from './event-type.ts';
import { knownMessages } from './protobuf-known.ts';
import { adjustedFullName, adjustedName, adjustedNames, freeName } from './schema-names.ts';

/**
 * A `.proto` file (proto3) whose first message is the schema's. Fields that can be null are `optional`; a list is a message of `items`, so that
 * none and an empty one differ, and items that can be null are messages; maps are lists of messages of `key` and `value`.
 */
export function protobufSchema(schema: StructShape): string {
  const messages = new ProtobufMessages(schema);
  return messages.print();
}

class ProtobufMessages {
  readonly #package: string;
  readonly #main: StructShape;
  readonly #imports = new Set<string>();
  /** Named messages of the file, as they are met. */
  readonly #texts = new Map<string, string>();

  constructor(main: StructShape) {
    this.#main = main;
    const name = adjustedFullName(main.name ?? '');
    this.#package = name.slice(0, Math.max(0, name.lastIndexOf('.')));
  }

  print(): string {
    this.#named(this.#main);
    const imports = [...this.#imports].sort().map((file) => `import "${file}";\n`);
    const head = `syntax = "proto3";\n${this.#package === '' ? '' : `package ${this.#package};\n`}`;
    return [head, ...(imports.length === 0 ? [] : [imports.join('')]), ...this.#texts.values()].join('\n');
  }

  /** Name of the message of a named struct: the last part of it, of all in one file. */
  #named({ name = 'Record', fields }: StructShape): string {
    const short = adjustedName(name.slice(name.lastIndexOf('.') + 1));
    if (this.#texts.has(short)) return short;
    // The message's place comes first, those that it needs follow.
    this.#texts.set(short, '');
    this.#texts.set(short, `message ${short} {\n${this.#fields(fields, '  ')}}\n`);
    return short;
  }

  #fields(fields: readonly EventField[], indent: string): string {
    const names = adjustedNames(
      fields.map(({ name }) => name),
      jsonNameOf,
    );
    const taken = new Set(names);
    return fields
      .map((field, position) => {
        const name = names[position] ?? field.name;
        // Fields and messages of one message are names of one kind.
        const place = freeName(`${name}_type`, taken);
        taken.add(place);
        return this.#field(field, { name, place }, indent);
      })
      .join('');
  }

  /** `place`: name of a message for the field. */
  #field(
    { type, optional, number }: EventField,
    { name, place }: { readonly name: string; readonly place: string },
    indent: string,
  ): string {
    const { typeName, nested } = this.#type(type, place, indent);
    return `${nested}${indent}${optional ? 'optional ' : ''}${typeName} ${name} = ${number};\n`;
  }

  /** How a field says its type, and the messages that stand before the field for it. */
  #type(type: EventType, place: string, indent: string): { readonly typeName: string; readonly nested: string } {
    switch (type.kind) {
      case 'scalar': {
        const known = type.name === undefined ? undefined : knownMessages[type.name];
        if (known === undefined) return { typeName: types[type.primitive], nested: '' };
        this.#imports.add(known.file);
        return { typeName: `.${known.name}`, nested: '' };
      }
      case 'struct':
        if (type.name !== undefined) return { typeName: this.#named(type), nested: '' };
        return { typeName: place, nested: message(place, this.#fields(type.fields, `${indent}  `), indent) };
      case 'list': {
        const items = this.#items(type.element, type.elementOptional, `${indent}  `);
        return { typeName: place, nested: message(place, `${items.nested}${indent}  repeated ${items.typeName} items = 1;\n`, indent) };
      }
      case 'map':
        assert(false, 'maps are lists of entries');
      default:
        return assertNever(type);
    }
  }

  #items(type: EventType, optional: boolean, indent: string): { readonly typeName: string; readonly nested: string } {
    if (!optional) return this.#type(type, 'item_type', indent);
    const value = this.#field({ name: 'value', type, optional: true, number: 1 }, { name: 'value', place: 'value_type' }, `${indent}  `);
    return { typeName: 'item_type', nested: message('item_type', value, indent) };
  }
}

function message(name: string, fields: string, indent: string): string {
  return `${indent}message ${name} {\n${fields}${indent}}\n`;
}

/** Protobuf refuses fields whose names differ in underscores and case alone. */
function jsonNameOf(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

const types: Readonly<Record<Primitive, string>> = {
  boolean: 'bool',
  int8: 'int32',
  int16: 'int32',
  int32: 'int32',
  int64: 'int64',
  float: 'float',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
};
