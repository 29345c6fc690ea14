import { type ServiceError, serviceError } from '../../base/errors.ts';
import { parseThriftStruct, type ThriftStruct, thriftField } from './thrift-compact.ts';

/** A column of a Parquet file as the footer declares it, lists and maps without the groups that only carry their repetition. */
export type FileColumn = FileLeaf | FileStruct | FileList | FileMap;

interface FileColumnBase {
  /** As in the file. */
  readonly name: string;
  readonly id: number | undefined;
}

export interface FileLeaf extends FileColumnBase {
  readonly kind: 'leaf';
}

export interface FileStruct extends FileColumnBase {
  readonly kind: 'struct';
  readonly members: readonly FileColumn[];
}

export interface FileList extends FileColumnBase {
  readonly kind: 'list';
  readonly element: FileColumn;
}

export interface FileMap extends FileColumnBase {
  readonly kind: 'map';
  readonly key: FileColumn;
  readonly value: FileColumn;
}

/** The columns of a file. Equal footers give the same object for as long as `intern` keeps it. */
export interface FileSchema {
  readonly columns: readonly FileColumn[];
  /** Whether any column, at any depth, has an id. */
  readonly hasIds: boolean;
  /** The same for the same columns. */
  readonly signature: string;
}

/**
 * The columns by the footer, which is FileMetaData of the format in compact Thrift.
 *
 * @throws ServiceError `PARQUET_CORRUPT` (corrupt).
 */
export function readFileSchema(footer: Uint8Array): FileSchema {
  const schema = thriftField(parseThriftStruct(footer, fields.schema), fields.schema);
  if (!(typeof schema === 'object' && 'items' in schema)) throw corrupt('has no schema');
  const elements = schema.items.map(elementOf);
  const cursor = { at: 0 };
  const root = nodeAt(elements, cursor, 0);
  const columns = root.children.map((child) => columnOf(child));
  return { columns, hasIds: elements.some(({ id }) => id !== undefined), signature: elements.map(textOf).join('\n') };
}

const fields = { schema: 2 } as const;
const elementFields = { type: 1, repetition: 3, name: 4, childCount: 5, convertedType: 6, id: 9, logicalType: 10 } as const;
const repeatedForm = 2n;
const convertedTypes = { map: 1n, mapKeyValue: 2n, list: 3n } as const;
const logicalTypes = { map: 2, list: 3 } as const;
const maxDepth = 100;

interface Element {
  readonly name: string;
  readonly id: number | undefined;
  readonly repeated: boolean;
  readonly childCount: number;
  readonly form: 'list' | 'map' | undefined;
}

interface Node extends Element {
  readonly children: readonly Node[];
}

function elementOf(value: ThriftStruct['fields'][number]['value']): Element {
  if (!(typeof value === 'object' && 'fields' in value)) throw corrupt('has a schema element that is no struct');
  const name = thriftField(value, elementFields.name);
  const id = thriftField(value, elementFields.id);
  const childCount = thriftField(value, elementFields.childCount);
  return {
    name: name instanceof Uint8Array ? Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString('utf8') : '',
    id: typeof id === 'bigint' ? Number(id) : undefined,
    repeated: thriftField(value, elementFields.repetition) === repeatedForm,
    childCount: typeof childCount === 'bigint' ? Number(childCount) : 0,
    form: formOf(value),
  };
}

function formOf(element: ThriftStruct): Element['form'] {
  const converted = thriftField(element, elementFields.convertedType);
  if (converted === convertedTypes.list) return 'list';
  if (converted === convertedTypes.map || converted === convertedTypes.mapKeyValue) return 'map';
  const logical = thriftField(element, elementFields.logicalType);
  if (!(typeof logical === 'object' && 'fields' in logical)) return undefined;
  const [form] = logical.fields;
  return form?.id === logicalTypes.list ? 'list' : form?.id === logicalTypes.map ? 'map' : undefined;
}

function nodeAt(elements: readonly Element[], cursor: { at: number }, depth: number): Node {
  const element = elements[cursor.at];
  if (element === undefined || depth > maxDepth || element.childCount < 0) throw corrupt('has a schema that does not end');
  cursor.at += 1;
  const children: Node[] = [];
  for (let left = element.childCount; left > 0; left--) children.push(nodeAt(elements, cursor, depth + 1));
  return { ...element, children };
}

function columnOf(node: Node, name: string = node.name): FileColumn {
  const { id, children, form, repeated } = node;
  // A repeated field that no list is around is a list itself (backward compatibility rules of the format).
  if (repeated) return { kind: 'list', name, id: undefined, element: columnOf({ ...node, repeated: false }) };
  if (form === 'list') return listOf(node, name);
  const [entries] = children;
  const [key, value] = entries?.children ?? [];
  if (form === 'map' && key !== undefined && value !== undefined) {
    return { kind: 'map', name, id, key: columnOf(key), value: columnOf(value) };
  }
  return children.length === 0
    ? { kind: 'leaf', name, id }
    : { kind: 'struct', name, id, members: children.map((child) => columnOf(child)) };
}

function listOf({ id, children: [repeated], name: ownName }: Node, name: string): FileColumn {
  if (repeated === undefined) return { kind: 'leaf', name, id };
  const [only] = repeated.children;
  const isElement =
    repeated.children.length !== 1 || only === undefined || repeated.name === 'array' || repeated.name === `${ownName}_tuple`;
  const element = isElement ? { ...repeated, repeated: false } : only;
  return { kind: 'list', name, id, element: columnOf(element) };
}

function textOf({ name, id, repeated, childCount, form }: Element): string {
  return `${name.length}:${name} ${id ?? ''} ${repeated ? 'r' : ''}${childCount} ${form ?? ''}`;
}

function corrupt(detail: string): ServiceError {
  return serviceError.corrupt('PARQUET_CORRUPT', `the parquet footer ${detail}`);
}
