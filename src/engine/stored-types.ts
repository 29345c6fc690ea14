import { serviceError } from '../base/errors.ts';
import { quoteName, sqlText, typeSql } from '../expr/sql/engine-text.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import { innerFields, someType, withInnerTypes } from '../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import { variantFields, variantInRelations, variantStruct } from '../schema/variant-type.ts';

/** The engine's type of a column in files: as `typeSql`, UUIDs and variants in their own types. */
export function storedTypeSql(type: DataType): string {
  return typeSql(type, (plain) => {
    if (plain.kind === 'variant') return 'VARIANT';
    return plain.kind === 'string' && plain.format === 'uuid' ? 'UUID' : typeSql(plain);
  });
}

/** A value as files hold it, as a value of relations. */
export function relationValueSql(sql: string, type: DataType): string {
  if (!isStoredOtherwise(type)) return sql;
  return holdsVariants(type) ? eachVariant(sql, type, 0) : `CAST(${sql} AS ${typeSql(type)})`;
}

/**
 * A value of relations as the engine writes it to files. Variants are written as the two parts they are made of: the engine's own type for
 * them does not know NULL from the variant `null`.
 */
export function storedValueSql(sql: string, type: DataType): string {
  const present = asStored(sql, type);
  if (!isStoredOtherwise(type) || holdsVariants(type)) return present;
  return `CAST(${present} AS ${storedTypeSql(storedType(type))})`;
}

/** The type that files have of a column: without members that they do not hold. */
export function storedType(type: DataType): DataType {
  return withInnerTypes(type.kind === 'struct' ? { ...type, fields: storedFields(type.fields) } : type, storedType);
}

/**
 * The columns that files hold: all but those of type void.
 *
 * @throws ServiceError `ENGINE_TYPE_UNSUPPORTED` (kind unsupported) for lists, maps and structs of nothing but void: whether they are null, and
 * how long they are, could be stored nowhere.
 */
export function storedFields(fields: readonly Field[]): readonly Field[] {
  const stored = fields.filter((field) => field.type.kind !== 'void');
  const lost = stored.find((field) => isNowhere(field.type));
  if (lost === undefined) return stored;
  throw serviceError.unsupported(
    'ENGINE_TYPE_UNSUPPORTED',
    `column "${lost.name}" has type ${sqlTypeName(lost.type)}, of which nothing can be written`,
    { hint: 'give the column another type; VOID is written alone or as a member of a struct with others' },
  );
}

/** Whether files never hold a column of the type: void, and what is made of it. */
export function isNowhere(type: DataType): boolean {
  switch (type.kind) {
    case 'void':
      return true;
    case 'struct':
      return type.fields.length > 0 && type.fields.every((field) => isNowhere(field.type));
    case 'list':
      return isNowhere(type.element);
    case 'map':
      return isNowhere(type.key) || isNowhere(type.value);
    default:
      return false;
  }
}

/** Paths of the members inside of a type that files do not hold, as `AbsentMember` has them. */
export function nowherePaths(type: DataType): readonly (readonly string[])[] {
  return innerFields(type).flatMap((field) =>
    type.kind === 'struct' && isNowhere(field.type) ? [[field.name]] : nowherePaths(field.type).map((path) => [field.name, ...path]),
  );
}

/** Whether values of the type have another form in files than in relations. */
export function isStoredOtherwise(type: DataType): boolean {
  return someType(type, (leaf) => leaf.kind === 'variant' || (leaf.kind === 'string' && leaf.format === 'uuid'));
}

function holdsVariants(type: DataType): boolean {
  return someType(type, (leaf) => leaf.kind === 'variant');
}

/** The engine's variants as the struct that relations have of them. */
function eachVariant(sql: string, type: DataType, depth: number): string {
  const leaf = (value: string, of: DataType): string => (of.kind === 'variant' ? variantSql(value) : `CAST(${value} AS ${typeSql(of)})`);
  return rebuilt(sql, type, { depth, leaf, fields: (fields) => fields, needed: isStoredOtherwise });
}

/**
 * Some writers do not mark the struct as a variant: the engine then takes it for an object with its parts as members, which no object of
 * JSON can look like.
 */
function variantSql(value: string): string {
  const part = (name: string): string => `CAST(variant_extract(${value}, '${name}') AS BLOB)`;
  const encoded = `CAST(variant_to_parquet_variant(${value}) AS ${typeSql(variantStruct)})`;
  const shape = `replace(variant_typeof(${value}), ' ', '')`;
  const isUnmarked = `variant_typeof(variant_extract(${value}, 'metadata')) = 'BLOB' AND ${shape}`;
  return (
    `CASE WHEN ${value} IS NULL THEN NULL ` +
    `WHEN ${isUnmarked} IN ('OBJECT(metadata,value)', 'OBJECT(value,metadata)') THEN ${parts(variantInRelations, part)} ` +
    `WHEN ${isUnmarked} LIKE 'OBJECT(%typed_value%)' THEN error('shredded variants that their files do not mark as variants cannot be read') ` +
    `ELSE ${parts(variantInRelations, (name) => `struct_extract(${encoded}, '${name}')`)} END`
  );
}

/** A struct of the two parts, under the names of `struct`. */
function parts(struct: StructType, part: (name: string) => string): string {
  return `struct_pack(${struct.fields.map(({ name }, index) => `${quoteName(name)} := ${part(variantFields[index]?.name ?? name)}`).join(', ')})`;
}

function asStored(sql: string, type: DataType): string {
  const leaf = (value: string, of: DataType): string => {
    if (of.kind !== 'variant') return value;
    const inFiles = parts(variantStruct, (name) => `struct_extract(${value}, '__variant_${name}')`);
    return `CASE WHEN ${value} IS NOT NULL THEN ${inFiles} END`;
  };
  return rebuilt(sql, type, { depth: 0, leaf, fields: storedFields, needed: (of) => nowherePaths(of).length > 0 || holdsVariants(of) });
}

interface Rebuilding {
  /** Lists and maps around. */
  readonly depth: number;
  readonly leaf: (sql: string, type: DataType) => string;
  readonly fields: (fields: readonly Field[]) => readonly Field[];
  /** What needs none stays as it is. */
  readonly needed: (type: DataType) => boolean;
}

function rebuilt(sql: string, type: DataType, how: Rebuilding): string {
  if (!how.needed(type)) return sql;
  const inner = { ...how, depth: how.depth + 1 };
  const parameter = `s${how.depth}`;
  switch (type.kind) {
    case 'struct': {
      const members = how
        .fields(type.fields)
        .map((field) => `${quoteName(field.name)} := ${rebuilt(`struct_extract(${sql}, ${sqlText(field.name)})`, field.type, how)}`);
      return `CASE WHEN ${sql} IS NOT NULL THEN struct_pack(${members.join(', ')}) END`;
    }
    case 'list':
      return `list_transform(${sql}, lambda ${parameter}: ${rebuilt(parameter, type.element, inner)})`;
    case 'map': {
      const keys = `list_transform(map_keys(${sql}), lambda ${parameter}: ${rebuilt(parameter, type.key, inner)})`;
      const values = `list_transform(map_values(${sql}), lambda ${parameter}: ${rebuilt(parameter, type.value, inner)})`;
      return `CASE WHEN ${sql} IS NOT NULL THEN map(${keys}, ${values}) END`;
    }
    default:
      return how.leaf(sql, type);
  }
}
