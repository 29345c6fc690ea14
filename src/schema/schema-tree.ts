import type { DataType, StructType } from './types.ts';

/** A schema as a tree, one line a column, as `printSchema` shows it: `root`, then ` |-- id: integer (nullable = true)` … */
export function schemaTree(schema: StructType): string {
  const lines = ['root'];
  appendFields(lines, schema, ' |');
  return `${lines.join('\n')}\n`;
}

function appendFields(lines: string[], struct: StructType, prefix: string): void {
  for (const field of struct.fields) {
    lines.push(`${prefix}-- ${field.name}: ${typeName(field.type)} (nullable = ${String(field.nullable)})`);
    appendInner(lines, field.type, `${prefix}    |`);
  }
}

function appendInner(lines: string[], type: DataType, prefix: string): void {
  switch (type.kind) {
    case 'struct':
      appendFields(lines, type, prefix);
      return;
    case 'list':
      lines.push(`${prefix}-- element: ${typeName(type.element)} (containsNull = ${String(type.elementNullable)})`);
      appendInner(lines, type.element, `${prefix}    |`);
      return;
    case 'map':
      lines.push(`${prefix}-- key: ${typeName(type.key)}`);
      appendInner(lines, type.key, `${prefix}    |`);
      lines.push(`${prefix}-- value: ${typeName(type.value)} (valueContainsNull = ${String(type.valueNullable)})`);
      appendInner(lines, type.value, `${prefix}    |`);
      return;
    default:
  }
}

function typeName(type: DataType): string {
  switch (type.kind) {
    case 'list':
      return 'array';
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    default:
      return type.kind;
  }
}
