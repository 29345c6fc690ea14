import { unsupported } from '../../base/unsupported-feature.ts';
import { type CommandResult, noResult } from '../commands/command-result.ts';
import type { ResolvedName } from '../names/session-tables.ts';
import { expectPermanent, expectView } from '../session-errors.ts';
import type { ObjectName, Statement } from '../statements/statement.ts';
import { requireNoView, viewKeyOf } from '../temp-view-names.ts';
import { keepView, viewPlace } from './execute-catalog-views.ts';
import { createView } from './execute-views.ts';
import { type StatementContext, shownName } from './statement-context.ts';

type AlterView = Extract<Statement, { readonly kind: 'alter-view' }>;

/**
 * ALTER VIEW: of the temporary view of the name, else of the catalog's.
 *
 * @throws AnalysisException `VIEW_NOT_FOUND`, `EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE`, `EXPECT_PERMANENT_VIEW_NOT_TEMP`, and what the
 * catalog's operations throw.
 */
export async function alterView(context: StatementContext, statement: AlterView): Promise<CommandResult> {
  const { runtime, signal } = context;
  const { name, action } = statement;
  const key = viewKeyOf(name.parts);
  if (key !== undefined && runtime.views.has(key)) return alterTemporary(context, statement, key);
  const place = viewPlace(context, name);
  const { views, ident, catalog } = place;
  const view = await views.load(ident, signal);
  // A view that is not there is the catalog's to tell.
  if (view === undefined && (await catalog.load(ident, signal)) !== undefined)
    throw expectView(name.parts, `ALTER VIEW ... ${shownAction(action)}`);
  switch (action.kind) {
    case 'query':
      await keepView(context, { ...place, mode: 'replace', query: action.query, properties: {} });
      return noResult;
    case 'set-properties':
      await views.setProperties(ident, action.properties, signal);
      return noResult;
    case 'unset-properties':
      await views.unsetProperties(ident, action.keys, { ifExists: action.ifExists }, signal);
      return noResult;
    case 'rename': {
      const target = renamed(context, name, action.to);
      if (target.catalog !== catalog)
        throw unsupported(
          `moving a view between catalogs (from=${catalog.name} and to=${target.catalog.name})`,
          'make it there with CREATE VIEW, and drop it here',
        );
      await views.rename(ident, target.ident, signal);
      return noResult;
    }
  }
}

async function alterTemporary(context: StatementContext, { name, action }: AlterView, key: string): Promise<CommandResult> {
  const { views } = context.runtime;
  const global = name.parts.length > 1;
  if (action.kind === 'query') {
    const bare = { ...name, parts: name.parts.slice(-1) };
    return createView(context, { kind: 'create-view', name: bare, global, replace: true, query: action.query });
  }
  if (action.kind !== 'rename') throw expectPermanent(shownName(name), `ALTER VIEW ... ${shownAction(action)}`);
  const to = global && action.to.parts.length === 1 ? [...name.parts.slice(0, -1), ...action.to.parts] : action.to.parts;
  const target = viewKeyOf(to);
  if (target === undefined) throw unsupported('moving a temporary view into a catalog', 'make it there with CREATE VIEW');
  requireNoView(target, views, 'drop the other view');
  const plan = views.get(key);
  if (plan !== undefined) views.set(target, plan);
  views.delete(key);
  return noResult;
}

/** A name of one part stays in the namespace of the view. */
function renamed({ runtime }: StatementContext, from: ObjectName, to: ObjectName): ResolvedName {
  return runtime.tables.resolve(to.parts.length === 1 ? [...from.parts.slice(0, -1), ...to.parts] : to.parts);
}

function shownAction({ kind }: AlterView['action']): string {
  return { query: 'AS', 'set-properties': 'SET TBLPROPERTIES', 'unset-properties': 'UNSET TBLPROPERTIES', rename: 'RENAME TO' }[kind];
}
