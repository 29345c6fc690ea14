import { AnalysisException } from '../base/analysis-exception.ts';
import { quotedName } from '../table/table-names.ts';
import { invalidArgument } from './session-errors.ts';

/** The namespace of global temporary views, which no catalog has. */
const globalNamespace = 'global_temp';

/** No name has this character in it. */
const separator = '\u0000';

/** Under what a temporary view of this name would be kept, global ones (`global_temp.v`) among them; names are found without regard to case. */
export function viewKeyOf(parts: readonly string[]): string | undefined {
  const [name = '', under] = parts.toReversed();
  const isGlobal = parts.length === 2 && under?.toLowerCase() === globalNamespace;
  if (parts.length > 1 && !isGlobal) return undefined;
  return isGlobal ? globalKey(name) : name.toLowerCase();
}

/** Under what a global temporary view is kept. */
export function globalKey(name: string): string {
  return `${globalNamespace}${separator}${name.toLowerCase()}`;
}

/**
 * Keeps a view that a call names.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for a name that would need quotes, `TEMP_TABLE_OR_VIEW_ALREADY_EXISTS`.
 */
export function keepView<View>(
  views: Map<string, View>,
  name: string,
  view: View,
  { global = false, replace = false }: { readonly global?: boolean; readonly replace?: boolean } = {},
): void {
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) {
    throw invalidArgument(`"${name}" is not a name for a temporary view`, 'use letters, digits and underscores');
  }
  const key = global ? globalKey(name) : name.toLowerCase();
  if (!replace) requireNoView(key, views, global ? 'use createOrReplaceGlobalTempView' : 'use createOrReplaceTempView');
  views.set(key, view);
}

/** @throws AnalysisException `TEMP_TABLE_OR_VIEW_ALREADY_EXISTS`. */
export function requireNoView(key: string, views: ReadonlyMap<string, unknown>, cure: string): void {
  if (views.has(key)) throw viewExists(quotedName(key.split(separator)), cure);
}

export interface ViewName {
  /** Empty: of this session's own. */
  readonly namespace: string;
  readonly name: string;
}

/** Temporary views as SHOW lists them: those of the namespace, and those without one. */
export function shownViews(views: ReadonlyMap<string, unknown>, namespace?: readonly string[]): readonly ViewName[] {
  const withGlobal = namespace !== undefined && isGlobalNamespace(namespace);
  return [...views.keys()]
    .map((key) => key.split(separator))
    .filter((parts) => parts.length === 1 || withGlobal)
    .map((parts): ViewName => ({ namespace: parts.slice(0, -1).join('.'), name: parts.at(-1) ?? '' }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

export function isGlobalNamespace(parts: readonly string[]): boolean {
  return parts.length === 1 && parts[0]?.toLowerCase() === globalNamespace;
}

function viewExists(shown: string, cure: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'TEMP_TABLE_OR_VIEW_ALREADY_EXISTS',
    message: `Cannot create the temporary view ${shown} because it already exists.`,
    hint: `choose a different name, or ${cure}`,
  });
}
