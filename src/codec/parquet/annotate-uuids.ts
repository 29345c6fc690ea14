import { footerOf, isList, isStruct, withFooter } from './footer.ts';
import { parseThriftStruct, type ThriftField, type ThriftStruct, type ThriftValue, thriftField, thriftType } from './thrift-compact.ts';

const fileField = { schema: 2 } as const;
const elementField = { fieldId: 9, logicalType: 10 } as const;
const uuidLogicalType = 14;

/**
 * The file with the columns of these field ids declared as UUIDs: the library writes their sixteen bytes and has no word for what they are.
 * Data pages and offsets stay as they are.
 */
export function annotateUuids(file: Uint8Array, ids: ReadonlySet<number>): Uint8Array {
  if (ids.size === 0) return file;
  const { bytes, start } = footerOf(file);
  const fields = parseThriftStruct(bytes).fields.map((field): ThriftField => {
    const { value } = field;
    if (field.id !== fileField.schema || !isList(value)) return field;
    const items = value.items.map((item) => (isElementOf(item, ids) ? annotated(item) : item));
    return { ...field, value: { ...value, items } };
  });
  return withFooter(file, start, { kind: 'struct', fields });
}

function isElementOf(value: ThriftValue, ids: ReadonlySet<number>): value is ThriftStruct {
  if (!isStruct(value)) return false;
  const id = thriftField(value, elementField.fieldId);
  return typeof id === 'bigint' && ids.has(Number(id));
}

function annotated(element: ThriftStruct): ThriftStruct {
  const nothing: ThriftStruct = { kind: 'struct', fields: [] };
  const logical: ThriftStruct = { kind: 'struct', fields: [{ id: uuidLogicalType, type: thriftType.struct, value: nothing }] };
  const kept = element.fields.filter(({ id }) => id !== elementField.logicalType);
  return { kind: 'struct', fields: [...kept, { id: elementField.logicalType, type: thriftType.struct, value: logical }] };
}
