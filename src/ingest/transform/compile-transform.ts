import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { callName, elementCountSql, generate, generatorArgument, isGenerator } from '../../expr/generators.ts';
import { outputName } from '../../expr/output-name.ts';
import { bindRowCondition, bindRowExpression, type RowColumns, type RowExpression, refusalText } from '../../expr/row-expression.ts';
import { typeSql } from '../../expr/sql/engine-sql.ts';
import type {
  Expectation,
  TransformExpression,
  TransformGenerator,
  TransformOutput,
  TransformSpec,
} from '../../protocol/transform-spec.ts';
import { convertValue } from '../../rows/values/convert-value.ts';
import { describeType } from '../../schema/describe-type.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { parseSelectItem } from './select-item.ts';
import type { TransformSettings } from './transform-settings.ts';

/** Something that is wrong with the settings, and where. */
export interface TransformProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface CompiledTransform {
  readonly spec: TransformSpec;
  readonly problems: readonly TransformProblem[];
}

export interface TransformColumns {
  /** Those that records are decoded to. */
  readonly record: StructType;
  readonly table: StructType;
  /** The table's columns are those that are declared. One that exists may have got others since, which are null. */
  readonly declared?: boolean | undefined;
}

/** A generator whose list is longer than this fails its record. */
const maxElements = 10_000;

/** Binds a transform to its columns. What is wrong with it is told as a whole; the result is of use only when nothing is. */
export function compileTransform(settings: TransformSettings, columns: TransformColumns): CompiledTransform {
  const compiler = new Compiler(columns);
  return compiler.compile(settings);
}

/** @throws ServiceError `TRANSFORM_INVALID` (kind invalid) with all that is wrong. */
export function requireTransform(table: string, settings: TransformSettings, columns: TransformColumns): TransformSpec {
  const { spec, problems } = compileTransform(settings, columns);
  if (problems.length === 0) return spec;
  throw serviceError.invalid(
    'TRANSFORM_INVALID',
    `table "${table}": ${problems.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}`,
    { hint: 'correct the route of the table; its expressions must fit the columns that the table has', context: { table } },
  );
}

class Compiler {
  readonly #columns: TransformColumns;
  readonly #problems: TransformProblem[] = [];
  readonly #outputs = new Map<string, TransformOutput>();
  #generator: TransformGenerator | undefined;

  constructor(columns: TransformColumns) {
    this.#columns = columns;
  }

  compile({ select, where, expect = [] }: TransformSettings): CompiledTransform {
    const { record, table } = this.#columns;
    if (select === undefined) this.#takeAll(table.fields.flatMap(({ name }) => record.fields.find((field) => field.name === name) ?? []));
    else
      for (const [index, text] of select.entries())
        this.#try(['select', index], () => {
          this.#item(text);
        });
    for (const field of table.fields) this.#requireFilled(field, select !== undefined);
    const condition =
      where === undefined
        ? undefined
        : this.#try(['where'], () => compiled(`where "${where}"`, bindRowCondition(where, numbered(record, 'r'), false)));
    const expectations = expect.flatMap((each, index): readonly Expectation[] => {
      const path = ['expect', index, 'condition'];
      const { name, onFailure, condition: text } = each;
      if (expect.findIndex((other) => other.name === name) < index)
        this.#problems.push({ path: ['expect', index, 'name'], message: `a second expectation is called "${name}"` });
      const made = this.#try(path, () => compiled(`expectation "${name}" "${text}"`, bindRowCondition(text, numbered(table, 'o'), true)));
      if (made === undefined) return [];
      return [{ name, onFailure, expression: { ...made, reads: this.#readBy(made.reads) }, about: made.reads }];
    });
    const outputs = table.fields.map(({ name }) => this.#outputs.get(name) ?? ({ kind: 'absent' } as const));
    return { spec: { record, where: condition, outputs, generator: this.#generator, expectations }, problems: this.#problems };
  }

  #try<T>(path: readonly (string | number)[], run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!isServiceError(error, 'invalid', 'unsupported')) throw error;
      this.#problems.push({ path, message: refusalText(error) });
      return undefined;
    }
  }

  #item(text: string): void {
    const item = parseSelectItem(text);
    const { record } = this.#columns;
    if (item.kind === 'star') {
      const unknown = item.except.find((name) => !record.fields.some((field) => sameName(field.name, name)));
      if (unknown !== undefined) throw refused(`EXCEPT names "${unknown}", which is no column of the record`);
      const chosen = record.fields.filter(({ name }) => !item.except.some((left) => sameName(left, name)));
      this.#takeAll(chosen);
      return;
    }
    if (isGenerator(item.value)) this.#generate(text, item.value, item.names);
    else this.#select(text, item.value, item.names);
  }

  #takeAll(fields: readonly Field[]): void {
    for (const field of fields) {
      this.#try(['select'], () => {
        this.#take(field.name, field, this.#target(field.name));
      });
    }
  }

  #select(text: string, value: Expression, names: readonly string[]): void {
    if (value.kind === 'column' && value.path.length === 1 && value.qualifier === undefined) {
      const [asked = ''] = value.path;
      const found = this.#columns.record.fields.find(({ name }) => sameName(name, asked));
      if (found !== undefined) {
        this.#take(text, found, this.#target(names[0] ?? found.name));
        return;
      }
    }
    if (names.length > 1) throw refused('several names are for a generator such as posexplode');
    const target = this.#target(names[0] ?? outputName(value));
    this.#set(target, { kind: 'computed', expression: this.#computed(`select "${text}"`, value, target) });
  }

  /** A column of the record as it is, or as the column of the table takes it. */
  #take(text: string, field: Field, target: Field): void {
    if (describeType(field.type) === describeType(target.type)) {
      this.#set(target, { kind: 'record', column: this.#columns.record.fields.indexOf(field) });
      return;
    }
    const value: Expression = { kind: 'column', path: [field.name] };
    this.#set(target, { kind: 'computed', expression: this.#computed(`select "${text}"`, value, target) });
  }

  #computed(place: string, value: Expression, target: Field): TransformExpression {
    const scalar = this.#scalar(value);
    const type = value.kind === 'literal' && value.literal.type === 'null' ? undefined : expressionType(scalar.bound);
    if (type !== undefined) return compiled(place, { ...scalar, sql: stored(scalar.sql, type, target) });
    requireOpen(target);
    const cast: Expression = { kind: 'cast', operand: value, type: target.type, safe: false };
    return compiled(place, this.#scalar(cast));
  }

  #generate(text: string, call: Expression, names: readonly string[]): void {
    if (this.#generator !== undefined) throw refused('a second generator: one entry of select may make rows');
    const name = callName(call);
    const scalar = this.#scalar(generatorArgument(call));
    const { fields, values } = generate(name, scalar.bound, { sql: 'ga', outer: true });
    if (names.length > 0 && names.length !== fields.length)
      throw refused(`${name}() makes ${fields.length} columns, and ${names.length} names are given`);
    for (const [index, field] of fields.entries()) {
      const target = this.#target(names[index] ?? field.name);
      const { sql, faults } = convertValue(`g${index}`, { from: field.type, to: target.type }, { rule: 'fit', path: [target.name] });
      if (faults.length > 0)
        throw refused(
          `${name}() gives ${sqlTypeName(field.type)}, and column "${target.name}" has type ${sqlTypeName(target.type)}; cast the argument to a list of it`,
        );
      requireOpen(target);
      this.#set(target, { kind: 'generated', sql });
    }
    const type = expressionType(scalar.bound);
    const bounded = `CASE WHEN ${elementCountSql(scalar.sql, type)} > ${maxElements} THEN error('more than ${maxElements} elements') ELSE ${scalar.sql} END`;
    const argument = compiled(`select "${text}"`, { ...scalar, sql: bounded });
    this.#generator = { argument, count: elementCountSql('ga', type), values, outer: name.toLowerCase().endsWith('_outer') };
  }

  #scalar(expression: Expression): RowExpression {
    return bindRowExpression(expression, numbered(this.#columns.record, 'r'));
  }

  /** The column of the table of that name. */
  #target(name: string): Field {
    const { fields } = this.#columns.table;
    const found = fields.find((field) => field.name === name);
    if (found !== undefined) return found;
    const nearest = nearestName(
      name,
      fields.map((field) => field.name),
    );
    throw refused(`the table has no column "${name}"${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`);
  }

  #set(target: Field, output: TransformOutput): void {
    if (this.#outputs.has(target.name)) throw refused(`column "${target.name}" of the table is filled already`);
    this.#outputs.set(target.name, output);
  }

  #requireFilled({ name, nullable }: Field, selected: boolean): void {
    if (this.#outputs.has(name) || this.#problems.length > 0) return;
    if (!selected && (this.#columns.declared === true || !nullable))
      this.#problems.push({
        path: ['columns'],
        message: `has no column "${name}", which the table has; name one, or say in select what fills it`,
      });
    else if (selected && !nullable)
      this.#problems.push({ path: ['select'], message: `nothing fills column "${name}" of the table, which is required` });
  }

  /** The columns of the record that columns of the table are made of. */
  #readBy(columns: readonly number[]): readonly number[] {
    const names = this.#columns.table.fields;
    const read = columns.flatMap((index): readonly number[] => {
      const output = this.#outputs.get(names[index]?.name ?? '');
      if (output?.kind === 'record') return [output.column];
      if (output?.kind === 'computed') return output.expression.reads;
      return output?.kind === 'generated' ? (this.#generator?.argument.reads ?? []) : [];
    });
    return [...new Set(read)];
  }
}

function compiled(place: string, { sql, reads }: Pick<RowExpression, 'sql' | 'reads'>): TransformExpression {
  return { place, sql, reads };
}

/** Columns of the record are `r0`, `r1`, …, those of the table `o0`, `o1`, … */
function numbered(schema: StructType, letter: 'r' | 'o'): RowColumns {
  return { schema, columnSql: (column) => `${letter}${column}` };
}

/** A value as the column of the table takes it, as INSERT does. */
function stored(sql: string, from: DataType, target: Field): string {
  requireOpen(target);
  const converted = convertValue(sql, { from, to: target.type }, { rule: 'store', path: [target.name] });
  if (from.kind === 'void') return `CAST(NULL AS ${typeSql(target.type)})`;
  if (converted.faults.some(({ kind }) => kind === 'mismatch'))
    throw refused(
      `a value of type ${sqlTypeName(from)} does not become one of column "${target.name}", which has type ${sqlTypeName(target.type)}`,
    );
  return converted.sql;
}

/** What is computed may be null at any depth. */
function requireOpen({ name, type }: Field): void {
  if (hasRequired(type))
    throw refused(`column "${name}" has required members, which are filled by a column of the record of the same type only`);
}

function hasRequired(type: DataType): boolean {
  switch (type.kind) {
    case 'struct':
      return type.fields.some((field) => !field.nullable || hasRequired(field.type));
    case 'list':
      return !type.elementNullable || hasRequired(type.element);
    case 'map':
      return !type.valueNullable || hasRequired(type.key) || hasRequired(type.value);
    default:
      return false;
  }
}

function sameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function refused(message: string): ServiceError {
  return serviceError.invalid('TRANSFORM_INVALID', message);
}
