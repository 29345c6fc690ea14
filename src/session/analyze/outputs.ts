import { shownInZone } from '../../expr/bind-parameters.ts';
import { untypedOf } from '../../expr/common-type.ts';
import type { Expression } from '../../expr/expression.ts';
import { hasAggregate, isDeterministic, mapExpression } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { outputName } from '../../expr/output-name.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { type Analyzed, type Attribute, attributeColumn, type Nameable, nameable, type Output, schemaOf } from '../plan/analyzed.ts';
import { exactId } from '../plan/exact-column.ts';
import type { GroupElement } from '../plan/plan.ts';
import { type SubqueryForm, subqueryOf } from '../plan/subquery-name.ts';
import type { Execution } from '../run/execution.ts';
import type { Analysis } from './analysis.ts';
import { framePrefix, plainAttribute } from './bind.ts';
import { describedTypes } from './described-types.ts';

/** An output before its names are found. Without a name it is named after its expression. */
export interface WantedOutput {
  readonly name?: string | undefined;
  readonly value: Expression;
}

/** An output whose names are found. */
export interface BoundOutput {
  readonly name: string;
  readonly value: Expression;
  /** The column that it takes over as it is. */
  readonly taken?: Attribute | undefined;
  /** Taken with its qualifier, whatever it is called now. */
  readonly exact: boolean;
}

/**
 * Values over the input as outputs with ids and types. A column taken over as it is keeps its id, so that conditions on it reach below.
 */
export async function outputsOf(analysis: Analysis, input: Nameable, wanted: readonly WantedOutput[]): Promise<readonly Output[]> {
  return typedOutputs(analysis, input, { bound: await boundOutputs(analysis, input, wanted) });
}

interface BindingOfOutputs {
  /** Where the columns are that outputs stand for exactly. Default: the input. */
  readonly made?: Nameable | undefined;
  /** Outputs may use the aliases of those before them, where no column has the name. */
  readonly lateral?: boolean | undefined;
}

export async function boundOutputs(
  analysis: Analysis,
  input: Nameable,
  wanted: readonly WantedOutput[],
  { made = input, lateral = false }: BindingOfOutputs = {},
): Promise<readonly BoundOutput[]> {
  const aliases: { readonly name: string; readonly value: Expression }[] = [];
  const bound: BoundOutput[] = [];
  for (const output of wanted) {
    const id = exactId(output.value);
    const exact = id === undefined ? undefined : nameable(made).find((attribute) => attribute.id === id);
    if (exact !== undefined) {
      bound.push({ name: output.name ?? exact.field.name, value: attributeColumn(exact), taken: exact, exact: true });
      continue;
    }
    const { name, value } = named(output, analysis.execution.now.zone?.rule);
    const found = await analysis.bind(value, input, { names: aliases, first: false });
    // What is another value each time it is computed cannot stand twice.
    if (lateral && output.value.kind === 'alias' && isDeterministic(found)) aliases.push({ name, value: found });
    bound.push({ name, value: found, taken: plainAttribute(found, input), exact: false });
  }
  return bound;
}

/** What `typedOutputs` gives ids and types. */
interface Untyped {
  readonly bound: readonly BoundOutput[];
  /** Over the input, bound: the query is grouped by them. */
  readonly groups?: readonly GroupElement[] | undefined;
}

export async function typedOutputs(analysis: Analysis, input: Nameable, { bound, groups = [] }: Untyped): Promise<readonly Output[]> {
  const { execution } = analysis;
  const known = bound.map(({ value, taken }) => taken?.field.type ?? untypedOf(value) ?? expressionType(value));
  const asked = bound.filter((_, index) => known[index] === undefined);
  const described = asked.length === 0 ? [] : await describedOutputs(analysis, input, { bound: asked, groups });
  const types = new Map(asked.map((output, index) => [output, described[index]]));
  // Where rows are not grouped by a key it is null.
  const subtotals = groups.some(({ kind }) => kind !== 'key');
  // A column that is taken twice is itself once; a name may be given to it exactly, before or after.
  const used = new Set<string>(
    bound.flatMap(({ taken, exact, name }) => (taken !== undefined && !exact && isCalled(taken, name) ? [taken.id] : [])),
  );
  const seen = new Set<string>();
  return bound.map((output, index) => {
    const { taken, exact, name, value } = output;
    const free = taken !== undefined && !seen.has(taken.id) && !(exact && used.has(taken.id));
    const field: Field = {
      name,
      type: known[index] ?? types.get(output) ?? { kind: 'string' },
      nullable: (subtotals && !hasAggregate(value)) || (taken?.field.nullable ?? isNullable(value)),
    };
    const attribute =
      free && isCalled(taken, name) ? { ...taken, field } : newAttribute(execution, name, field, exact ? taken?.qualifier : undefined);
    seen.add(attribute.id);
    return { attribute, value };
  });
}

/** A name in other letters is the same column, called as it was asked for. */
function isCalled({ field }: Attribute, name: string): boolean {
  return field.name.toLowerCase() === name.toLowerCase();
}

async function describedOutputs(analysis: Analysis, input: Nameable, { bound, groups = [] }: Untyped): Promise<readonly DataType[]> {
  const attributes = nameable(input);
  const rows: Analyzed = { kind: 'rows', schema: schemaOf(attributes), batches: [], attributes };
  const outputs = bound.map(({ value, name }): Output => ({ attribute: newAttribute(analysis.execution, name, undefined), value }));
  const columns = outputs.map(({ attribute }) => attribute);
  return describedTypes(
    analysis,
    groups.length === 0
      ? { kind: 'project', outputs, input: rows, attributes: columns }
      : { kind: 'aggregate', groups, outputs, input: rows, attributes: columns },
  );
}

/** A new column of the given name and type. */
export function newAttribute(execution: Execution, name: string, field: Field | undefined, qualifier?: string): Attribute {
  return {
    id: `${name.replaceAll('\u0000', '')}#${execution.nextNumber()}`,
    field: { type: { kind: 'string' }, nullable: true, ...field, name },
    qualifier,
    frames: [],
  };
}

/** Attributes for the columns of a source. */
export function sourceAttributes(execution: Execution, fields: readonly Field[], qualifier?: string): readonly Attribute[] {
  return fields.map((field) => newAttribute(execution, field.name, field, qualifier));
}

const shownSubqueries: Readonly<Record<SubqueryForm, string>> = { scalar: 'scalarsubquery', exists: 'exists', in: 'listquery' };

/** A column of a DataFrame goes by its own name, a query by what it is for. */
function shown(node: Expression): Expression {
  if (node.kind !== 'column') return node;
  const [first = '', ...members] = node.path;
  if (first.startsWith(framePrefix)) return { ...node, path: members };
  const form = subqueryOf(first)?.form;
  return form === undefined ? node : { kind: 'call', name: shownSubqueries[form], arguments: [] };
}

function named({ name, value }: WantedOutput, zone: ZoneRule): { readonly name: string; readonly value: Expression } {
  const inner = value.kind === 'alias' ? value.operand : value;
  return { name: name ?? outputName(mapExpression(shownInZone(value, zone), shown)), value: inner };
}

function isNullable(value: Expression): boolean {
  if (value.kind === 'literal') return value.literal.type === 'null';
  if (value.kind === 'call') return value.name.toLowerCase() !== 'count';
  return value.kind !== 'is' && value.kind !== 'is-distinct';
}
