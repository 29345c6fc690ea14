import {
  parseThriftStruct,
  printThriftStruct,
  type ThriftField,
  type ThriftStruct,
  type ThriftValue,
  thriftField,
  thriftType,
} from './thrift-compact.ts';

const tailBytes = 8;
const fileField = { schema: 2 } as const;
const elementField = { fieldId: 9, logicalType: 10 } as const;
const uuidLogicalType = 14;

/**
 * The file with the columns of these field ids declared as UUIDs: the library writes their sixteen bytes and has no word for what they are.
 * Data pages and offsets stay as they are.
 */
export function annotateUuids(file: Uint8Array, ids: ReadonlySet<number>): Uint8Array {
  if (ids.size === 0) return file;
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const start = file.length - tailBytes - view.getUint32(file.length - tailBytes, true);
  const footer = parseThriftStruct(file.subarray(start, file.length - tailBytes));
  const fields = footer.fields.map((field): ThriftField => {
    const { value } = field;
    if (field.id !== fileField.schema || typeof value !== 'object' || !('kind' in value) || value.kind !== 'list') return field;
    const items = value.items.map((item) => (isElementOf(item, ids) ? annotated(item) : item));
    return { ...field, value: { ...value, items } };
  });
  const printed = printThriftStruct({ kind: 'struct', fields });
  const tail = Buffer.alloc(tailBytes, file.subarray(file.length - tailBytes));
  tail.writeUInt32LE(printed.length);
  return Buffer.concat([file.subarray(0, start), printed, tail]);
}

function isElementOf(value: ThriftValue, ids: ReadonlySet<number>): value is ThriftStruct {
  if (typeof value !== 'object' || !('kind' in value) || value.kind !== 'struct') return false;
  const id = thriftField(value, elementField.fieldId);
  return typeof id === 'bigint' && ids.has(Number(id));
}

function annotated(element: ThriftStruct): ThriftStruct {
  const nothing: ThriftStruct = { kind: 'struct', fields: [] };
  const logical: ThriftStruct = { kind: 'struct', fields: [{ id: uuidLogicalType, type: thriftType.struct, value: nothing }] };
  const kept = element.fields.filter(({ id }) => id !== elementField.logicalType);
  return { kind: 'struct', fields: [...kept, { id: elementField.logicalType, type: thriftType.struct, value: logical }] };
}
