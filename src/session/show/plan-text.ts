import type { Expression } from '../../expr/expression.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { simpleTypeName } from '../../schema/simple-type.ts';
import { type Analyzed, type Attribute, inputsOf } from '../plan/analyzed.ts';

/** A plan whose names are found, as a tree: what comes out, then each node above what it reads. Columns are shown with the ids that tell them apart. */
export function planText(plan: Analyzed): string {
  const columns = plan.attributes.map(({ field }) => `${field.name}: ${simpleTypeName(field.type)}`).join(', ');
  return [columns, ...linesOf(plan)].join('\n');
}

function linesOf(plan: Analyzed): readonly string[] {
  const inputs = shownInputs(plan);
  const below = inputs.flatMap((input, index) => {
    const last = index === inputs.length - 1;
    return linesOf(input).map((line, place) => `${place === 0 ? '+- ' : last ? '   ' : '|  '}${line}`);
  });
  return [nodeText(plan), ...below];
}

function shownInputs(plan: Analyzed): readonly Analyzed[] {
  return plan.kind === 'mention' && plan.query.mentions <= 1 ? [plan.definition] : inputsOf(plan);
}

function nodeText(plan: Analyzed): string {
  switch (plan.kind) {
    case 'table':
      return `Table ${plan.table.name}, version ${plan.snapshot.version} ${listed(plan.attributes)}`;
    case 'changes':
      return `Changes of ${plan.table.name} ${listed(plan.attributes)}`;
    case 'files':
      return `Files ${plan.source.format} ${plan.source.paths.join(', ')} ${listed(plan.attributes)}`;
    case 'project':
      return `Project [${plan.outputs.map(({ attribute, value }) => outputText(attribute, value)).join(', ')}]`;
    case 'aggregate': {
      const keys = plan.groups.map(
        ({ kind, sets }) => (kind === 'key' ? '' : `${kind} `) + sets.map((set) => set.map(text).join(', ')).join('; '),
      );
      const having = plan.having === undefined ? '' : `, having ${text(plan.having)}`;
      return `Aggregate [${keys.join(', ')}], [${plan.outputs.map(({ attribute, value }) => outputText(attribute, value)).join(', ')}]${having}`;
    }
    case 'filter':
      return `Filter ${text(plan.condition)}`;
    case 'sort':
      return `Sort [${plan.keys.map(({ expression, descending }) => `${text(expression)} ${descending ? 'DESC' : 'ASC'}`).join(', ')}]`;
    case 'limit':
      return `Limit ${[plan.count, plan.offset].map((value) => (value === undefined ? 'all' : text(value))).join(', offset ')}`;
    case 'join':
      return `Join ${plan.join}${plan.condition === undefined ? '' : `, ${text(plan.condition)}`}`;
    case 'set':
      return `Set ${plan.operation} ${listed(plan.attributes)}`;
    case 'generate':
      return `Generate ${plan.name}(${text(plan.argument)}) ${listed(plan.made)}`;
    case 'mention':
      return `Named query ${plan.query.id} ${listed(plan.attributes)}`;
    default:
      return `${plan.kind.charAt(0).toUpperCase()}${plan.kind.slice(1)} ${listed(plan.attributes)}`;
  }
}

function listed(attributes: readonly Attribute[]): string {
  return `[${attributes.map(({ id }) => id).join(', ')}]`;
}

function outputText({ id }: Attribute, value: Expression): string {
  const shown = text(value);
  return shown === id ? shown : `${shown} AS ${id}`;
}

/** Ids need no quotes: they are told apart by their numbers. */
function text(expression: Expression): string {
  return printExpression(expression).replaceAll(/`([^`]*#\d+)`/g, '$1');
}
