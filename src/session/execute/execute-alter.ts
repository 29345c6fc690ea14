import { unsupported } from '../../base/unsupported-feature.ts';
import type { SortKey } from '../../expr/expression.ts';
import type { DefinitionChange } from '../../table/definition-changes.ts';
import type { PartitionFieldDefinition } from '../../table/partitioning/transform.ts';
import type { WriteOrderKey } from '../../table/partitioning/write-order.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import { commitOptionsOf } from '../commands/row-commands.ts';
import { expectTable } from '../session-errors.ts';
import type { AlterAction, ObjectName, PartitionItem, Statement } from '../statements/statement.ts';
import { partitionField, partitionOf } from './partitioning.ts';
import { type StatementContext, shownName, targetOf } from './statement-context.ts';

/** ALTER TABLE: each action is a version of the table. */
export async function alterTable(
  context: StatementContext,
  statement: Extract<Statement, { readonly kind: 'alter-table' }>,
): Promise<CommandResult> {
  const [first] = statement.actions;
  if (first?.kind === 'rename-table') return renameTable(context, statement.name, first.to);
  const target = await targetOf(context, statement.name, `ALTER TABLE ... ${alteration(first)}`);
  for (const action of statement.actions) {
    const change = definitionChange(action);
    const assumed = context.runtime.conf.switch('spark.databricks.delta.constraints.assumesDropIfExists.enabled') === true;
    await target.table.operations.alter(assumed ? toleratingAbsence(change) : change, commitOptionsOf(target));
  }
  return noResult;
}

/** ALTER TABLE … RENAME TO: within one catalog; a name of one part stays in the namespace of the table, as in Spark. */
async function renameTable({ runtime, signal }: StatementContext, from: ObjectName, to: ObjectName): Promise<CommandResult> {
  if (runtime.tables.referenceOf(from.parts).kind === 'path') throw unsupported('ALTER TABLE … RENAME TO of a path', 'paths have no names');
  const source = runtime.tables.resolve(from.parts);
  const target = runtime.tables.resolve(to.parts.length === 1 ? [...from.parts.slice(0, -1), ...to.parts] : to.parts);
  if ((await source.catalog.views?.load(source.ident, signal)) !== undefined)
    throw expectTable(shownName(from), 'ALTER TABLE ... RENAME TO');
  if (source.catalog !== target.catalog) throw unsupported('ALTER TABLE … RENAME TO another catalog');
  await source.catalog.rename(source.ident, target.ident, signal);
  return noResult;
}

/** As Spark names a change of a table in messages. */
function alteration(action: AlterAction | undefined): string {
  return (action?.kind ?? '').toUpperCase().replaceAll('-', ' ');
}

function definitionChange(action: AlterAction): DefinitionChange {
  switch (action.kind) {
    case 'rename-table':
      throw unsupported('ALTER TABLE … RENAME TO together with other changes');
    case 'add-partition-field':
      return { kind: action.kind, field: partitionField(action.item, action.name) };
    case 'drop-partition-field':
      return { kind: action.kind, field: namedField(action.item) };
    case 'replace-partition-field':
      return { kind: action.kind, field: namedField(action.item), by: partitionField(action.by, action.name) };
    case 'write-order':
      return { kind: action.kind, keys: action.keys.map(orderKey), distribution: distributionOf(action.distribution) };
    case 'create-ref': {
      const { retention, ...ref } = action;
      const { version: snapshotId, retainMs: maxRefAgeMs, minSnapshotsToKeep, maxSnapshotAgeMs } = retention;
      return { ...ref, snapshotId, maxRefAgeMs, minSnapshotsToKeep, maxSnapshotAgeMs };
    }
    default:
      return action;
  }
}

/** A field to be dropped: a plain name is the field's own, or that of the column it is of. */
function namedField(item: PartitionItem): PartitionFieldDefinition | { readonly name: string } {
  return item.kind === 'column' && item.path.length === 1 ? { name: item.path[0] ?? '' } : partitionField(item);
}

function orderKey({ expression, descending, nullsFirst }: SortKey): WriteOrderKey {
  return { ...partitionOf(expression), descending, nullsFirst: nullsFirst ?? !descending };
}

/** LOCALLY ORDERED BY leaves the distribution to the writer. */
function distributionOf(asked: Extract<AlterAction, { kind: 'write-order' }>['distribution']): 'none' | 'hash' | 'range' | undefined {
  return asked === 'local' ? 'none' : asked;
}

function toleratingAbsence(change: DefinitionChange): DefinitionChange {
  return change.kind === 'drop-constraint' ? { ...change, ifExists: true } : change;
}
