import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';

/** One element of a Parquet file's schema as `parquet_schema` of the engine shows it, in the file's order. */
export interface SchemaElement {
  readonly name: string;
  /** Physical type; `undefined` for groups. */
  readonly type: string | undefined;
  readonly repetition: string | undefined;
  readonly childCount: number;
  readonly convertedType: string | undefined;
  readonly logicalType: string | undefined;
  readonly precision: number | undefined;
  readonly scale: number | undefined;
}

const maxDepth = 100;

/**
 * The columns of a Parquet file by the types Spark gives them: all nullable.
 *
 * @throws AnalysisException `DELTA_FAILED_INFER_SCHEMA` (42KD9) for a type no table can have, or elements that are no tree.
 */
export function schemaOfFile(file: string, elements: readonly SchemaElement[]): StructType {
  const [root] = elements;
  const reader = new ElementReader(file, elements);
  return { kind: 'struct', fields: reader.children(root?.childCount ?? 0, 0).map(({ field }) => field) };
}

interface Node {
  readonly element: SchemaElement;
  readonly children: readonly Node[];
  readonly field: Field;
}

class ElementReader {
  readonly #file: string;
  readonly #elements: readonly SchemaElement[];
  #next = 1;

  constructor(file: string, elements: readonly SchemaElement[]) {
    this.#file = file;
    this.#elements = elements;
  }

  children(count: number, depth: number): readonly Node[] {
    return Array.from({ length: count }, () => this.#node(depth + 1));
  }

  #node(depth: number): Node {
    const element = this.#elements[this.#next++];
    if (element === undefined || depth > maxDepth) throw cannotInfer(this.#file, 'its schema is damaged');
    const children = this.children(element.childCount, depth);
    const type = children.length > 0 ? this.#groupType(element, children) : this.#leafType(element);
    const repeated = element.repetition === 'REPEATED';
    // A repeated column outside a list is a list of its own.
    const own: DataType = repeated ? { kind: 'list', element: type, elementNullable: false } : type;
    return { element, children, field: { name: element.name, type: own, nullable: true } };
  }

  #groupType(element: SchemaElement, children: readonly Node[]): DataType {
    const logical = element.logicalType ?? '';
    const [only] = children;
    if (only !== undefined && children.length === 1 && only.element.repetition === 'REPEATED') {
      if (element.convertedType === 'LIST' || logical.startsWith('ListType')) return listOf(element, only);
      const isMap = element.convertedType === 'MAP' || element.convertedType === 'MAP_KEY_VALUE' || logical.startsWith('MapType');
      const [key, value] = only.children;
      if (isMap && key !== undefined && value !== undefined) {
        return { kind: 'map', key: key.field.type, value: value.field.type, valueNullable: true };
      }
    }
    return { kind: 'struct', fields: children.map(({ field }) => field) };
  }

  #leafType(element: SchemaElement): DataType {
    const found = leafType(element);
    if (found !== undefined) return found;
    const shown = [element.type, element.convertedType ?? element.logicalType].filter((part) => part !== undefined).join(' ');
    throw cannotInfer(this.#file, `column "${element.name}" has the type ${shown}`);
  }
}

/** Parquet: LogicalTypes, backward compatibility rules of lists. */
function listOf(list: SchemaElement, repeated: Node): DataType {
  const { element, children } = repeated;
  const [only] = children;
  const isElement = children.length !== 1 || element.name === 'array' || element.name === `${list.name}_tuple`;
  const item = isElement || only === undefined ? elementType(repeated.field.type) : only.field.type;
  return { kind: 'list', element: item, elementNullable: true };
}

/** The repeated field was read as a list of itself. */
function elementType(type: DataType): DataType {
  return type.kind === 'list' ? type.element : type;
}

function leafType(element: SchemaElement): DataType | undefined {
  const converted = element.convertedType ?? '';
  const logical = element.logicalType ?? '';
  if (converted === 'DECIMAL' || logical.startsWith('DecimalType')) {
    const { precision, scale } = element;
    if (precision === undefined || precision < 1 || precision > 38) return undefined;
    return { kind: 'decimal', precision, scale: scale ?? 0 };
  }
  switch (element.type) {
    case 'BOOLEAN':
      return { kind: 'boolean' };
    case 'INT32':
      return int32Type(converted, logical);
    case 'INT64':
      return int64Type(converted, logical);
    case 'INT96':
      return { kind: 'timestamp' };
    case 'FLOAT':
      return { kind: 'float' };
    case 'DOUBLE':
      return { kind: 'double' };
    case 'BYTE_ARRAY':
      return /^(UTF8|ENUM|JSON)$/.test(converted) || /^(StringType|EnumType|JsonType)/.test(logical)
        ? { kind: 'string' }
        : { kind: 'binary' };
    case 'FIXED_LEN_BYTE_ARRAY':
      return converted === 'INTERVAL' || /^(UUIDType|Float16Type)/.test(logical) ? undefined : { kind: 'binary' };
    default:
      return undefined;
  }
}

function int32Type(converted: string, logical: string): DataType | undefined {
  if (converted === 'INT_8') return { kind: 'byte' };
  if (converted === 'INT_16' || converted === 'UINT_8') return { kind: 'short' };
  if (converted === 'UINT_32') return { kind: 'long' };
  if (converted === 'DATE' || logical.startsWith('DateType')) return { kind: 'date' };
  return converted === '' || converted === 'INT_32' || converted === 'UINT_16' ? { kind: 'integer' } : undefined;
}

function int64Type(converted: string, logical: string): DataType | undefined {
  if (converted === 'UINT_64') return { kind: 'decimal', precision: 20, scale: 0 };
  if (logical.startsWith('TimestampType')) {
    const adjusted = !/isAdjustedToUTC=(0|false)/i.test(logical);
    return /NANOS|nanos/.test(logical) && !/NANOS=<null>/.test(logical) ? undefined : { kind: adjusted ? 'timestamp' : 'timestamp_ntz' };
  }
  if (converted === 'TIMESTAMP_MICROS' || converted === 'TIMESTAMP_MILLIS') return { kind: 'timestamp' };
  return converted === '' || converted === 'INT_64' ? { kind: 'long' } : undefined;
}

/**
 * The columns of both: those of `right` that `left` lacks come last.
 *
 * @throws AnalysisException `DELTA_FAILED_MERGE_SCHEMA_FILE` (42KDA) when a column has two types.
 */
export function mergedSchema(left: StructType, right: StructType, file: string): StructType {
  const fields = [...left.fields];
  for (const field of right.fields) {
    const index = fields.findIndex((other) => other.name.toLowerCase() === field.name.toLowerCase());
    const known = fields[index];
    if (known === undefined) fields.push(field);
    else if (known.name !== field.name) throw cannotMerge(file, field.name, `is spelled "${known.name}" in other files`);
    else fields[index] = { ...known, type: mergedType(known.type, field.type, file, field.name) };
  }
  return { kind: 'struct', fields };
}

function mergedType(left: DataType, right: DataType, file: string, name: string): DataType {
  if (left.kind === 'struct' && right.kind === 'struct') return mergedSchema(left, right, file);
  if (left.kind === 'list' && right.kind === 'list') return { ...left, element: mergedType(left.element, right.element, file, name) };
  if (left.kind === 'map' && right.kind === 'map') {
    return { ...left, key: mergedType(left.key, right.key, file, name), value: mergedType(left.value, right.value, file, name) };
  }
  if (describeType(left) === describeType(right)) return left;
  throw cannotMerge(file, name, `is ${describeType(right)} there and ${describeType(left)} in other files`);
}

function cannotMerge(file: string, column: string, what: string): AnalysisException {
  const schema = `column "${column}" ${what}`;
  return new AnalysisException({
    errorClass: 'DELTA_FAILED_MERGE_SCHEMA_FILE',
    parameters: { file, schema },
    message: `Failed to merge schema of file ${file}:\n${schema}`,
    hint: 'rewrite the files that differ, or write the rows into a table',
  });
}

function cannotInfer(file: string, what: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_FAILED_INFER_SCHEMA',
    parameters: { file },
    message: `Failed to infer schema from the given list of files: ${file}: ${what}`,
    hint: 'write the rows of the files into a table instead of converting them',
  });
}
