import { unsupported } from '../../base/unsupported-feature.ts';
import { type CommandResult, noResult, resultSchema } from '../commands/command-result.ts';
import { namespaceNotFound } from '../session-errors.ts';
import type { Statement } from '../statements/statement.ts';
import { likePattern } from './like-pattern.ts';
import type { StatementContext } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

export async function createNamespace({ runtime, signal }: StatementContext, statement: Kind<'create-namespace'>): Promise<CommandResult> {
  if (statement.location !== undefined)
    throw unsupported('CREATE SCHEMA … LOCATION', 'the warehouse has a directory for each schema; give tables a LOCATION of their own');
  if (Object.keys(statement.properties).length > 0) throw unsupported('CREATE SCHEMA … WITH DBPROPERTIES', 'properties are kept of tables');
  const { catalog, namespace } = runtime.tables.namespace(statement.name.parts);
  if (statement.ifNotExists && (await catalog.hasNamespace(namespace, signal))) return noResult;
  await catalog.createNamespace(namespace, signal);
  return noResult;
}

export async function dropNamespace({ runtime, signal }: StatementContext, statement: Kind<'drop-namespace'>): Promise<CommandResult> {
  const { catalog, namespace } = runtime.tables.namespace(statement.name.parts);
  if (statement.ifExists && !(await catalog.hasNamespace(namespace, signal))) return noResult;
  await catalog.dropNamespace(namespace, { cascade: statement.cascade }, signal);
  return noResult;
}

export async function showNamespaces({ runtime, signal }: StatementContext, statement: Kind<'show-namespaces'>): Promise<CommandResult> {
  const within = statement.in === undefined ? undefined : runtime.tables.namespace(statement.in.parts);
  const catalog = within?.catalog ?? runtime.tables.currentCatalog;
  const matches = likePattern(statement.like);
  const names = (await catalog.namespaces(signal, within?.namespace)).map((namespace) => namespace.join('.')).filter(matches);
  return { schema: resultSchema({ namespace: 'string' }), rows: names.map((namespace) => ({ namespace })) };
}

export async function describeNamespace(
  { runtime, signal }: StatementContext,
  statement: Kind<'describe-namespace'>,
): Promise<CommandResult> {
  const { catalog, namespace } = runtime.tables.namespace(statement.name.parts);
  if (!(await catalog.hasNamespace(namespace, signal))) throw namespaceNotFound(statement.name.parts);
  const rows = [
    { info_name: 'Catalog Name', info_value: catalog.name },
    { info_name: 'Namespace Name', info_value: namespace.join('.') },
  ];
  return { schema: resultSchema({ info_name: 'string', info_value: 'string' }), rows };
}

export function showCatalogs({ runtime }: StatementContext, statement: Kind<'show-catalogs'>): CommandResult {
  const names = runtime.tables.catalogNames.filter(likePattern(statement.like));
  return { schema: resultSchema({ catalog: 'string' }), rows: names.map((catalog) => ({ catalog })) };
}

export async function useNamespace({ runtime, signal }: StatementContext, statement: Kind<'use'>): Promise<CommandResult> {
  if (statement.what === 'catalog') runtime.tables.catalog(statement.name.parts[0] ?? '');
  await runtime.tables.use(statement.name.parts, signal);
  return noResult;
}
