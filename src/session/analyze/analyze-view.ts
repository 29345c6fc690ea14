import { AnalysisException, ParseException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { Field } from '../../schema/types.ts';
import { isSameType, upCasts } from '../../schema/up-casts.ts';
import type { CatalogView } from '../../table/catalog-views.ts';
import { quotedName } from '../../table/table-names.ts';
import { type Analyzed, type Attribute, attributeColumn, type Output } from '../plan/analyzed.ts';
import type { Plan, TableSource } from '../plan/plan.ts';
import { catalogNotFound } from '../session-errors.ts';
import { parseSelect } from '../sql/parse-select.ts';
import { type Analysis, emptyScope } from './analysis.ts';
import { newAttribute } from './outputs.ts';

/** Views that read views that read views. */
const maxViewDepth = 100;

/**
 * The rows of a catalog's view: its query where it was made, and its columns by place, as they were then.
 *
 * @throws AnalysisException `RECURSIVE_VIEW` (42K0H), `VIEW_EXCEED_MAX_NESTED_DEPTH` (54K00), `INVALID_VIEW_TEXT` (XX000),
 * `INCOMPATIBLE_VIEW_SCHEMA_CHANGE` (51024), `CANNOT_UP_CAST_DATATYPE` (42846), `UNSUPPORTED_FEATURE.TIME_TRAVEL` (0A000), and what its
 * query may be refused with.
 */
export async function analyzeView(analysis: Analysis, view: CatalogView, source: TableSource): Promise<Analyzed> {
  const { scope, execution } = analysis;
  refuseTravel(view, source);
  const name = quotedName(view.parts);
  const around = scope.viewsAround ?? [];
  if (around.includes(name)) throw recursive(name, [...around, name]);
  if (around.length >= maxViewDepth) throw tooDeep(name);
  const { tables } = execution.runtime;
  if (!tables.hasCatalog(view.catalog)) throw catalogNotFound(view.catalog, tables.catalogNames);
  const home = { catalog: view.catalog, namespace: view.namespace };
  const inside = analysis.within({ ...emptyScope, home, viewsAround: [...around, name], permanentView: undefined });
  const input = await inside.analyze(queryOf(view));
  const qualifier = source.reference.kind === 'name' ? source.reference.parts.join('.') : undefined;
  const seen = new Set<string>();
  const outputs = view.schema.fields.map((field, index): Output => {
    const attribute = input.attributes[index];
    if (attribute === undefined) throw fewerColumns(view, field.name);
    return outputOf(analysis, { view, field, attribute, qualifier, seen });
  });
  return { kind: 'project', outputs, input, attributes: outputs.map(({ attribute }) => attribute) };
}

/** The parts of a name in a view's query, with the catalog and namespace that the view has them in. */
export function partsAtHome({ scope, execution }: Analysis, parts: readonly string[]): readonly string[] {
  const { home } = scope;
  const { tables } = execution.runtime;
  const [first = ''] = parts;
  const isPath = parts.some((part) => part.includes('/')) || tables.referenceOf(parts).kind === 'path';
  if (home === undefined || isPath) return parts;
  if (parts.length === 1) return [home.catalog, ...home.namespace, ...parts];
  return tables.hasCatalog(first) ? parts : [home.catalog, ...parts];
}

/** `INVALID_TEMP_OBJ_REFERENCE` (42K0F) */
export function temporaryInPermanent(name: string, parts: readonly string[]): AnalysisException {
  const temporary = quotedName(parts);
  return new AnalysisException({
    errorClass: 'INVALID_TEMP_OBJ_REFERENCE',
    message:
      `Cannot create the persistent object ${name} of the type VIEW because it references to the temporary object ${temporary} of the type VIEW. ` +
      `Please make the temporary object ${temporary} persistent, or make the persistent object ${name} temporary.`,
    parameters: { obj: 'VIEW', objName: name, tempObj: 'VIEW', tempObjName: temporary },
  });
}

function queryOf(view: CatalogView): Plan {
  try {
    return parseSelect(view.query, {});
  } catch (error) {
    if (!(error instanceof ParseException)) throw error;
    throw new AnalysisException({
      errorClass: 'INVALID_VIEW_TEXT',
      message: `The view ${quotedName(view.parts)} cannot be displayed due to invalid view text: ${error.message}.`,
      hint: 'its text may be of another engine, or was changed by hand; SHOW CREATE TABLE shows it, CREATE OR REPLACE VIEW gives it another',
      parameters: { viewName: quotedName(view.parts), viewText: view.query },
      cause: error,
    });
  }
}

interface ViewOutput {
  readonly view: CatalogView;
  /** Of the view. */
  readonly field: Field;
  /** Of its query, in the same place. */
  readonly attribute: Attribute;
  readonly qualifier: string | undefined;
  readonly seen: Set<string>;
}

/** A column whose type is still the view's is taken over as it is: conditions on it reach below. */
function outputOf({ execution }: Analysis, { view, field, attribute, qualifier, seen }: ViewOutput): Output {
  const found = attribute.field;
  const value = attributeColumn(attribute);
  const { metadata } = field;
  if (!isSameType(found.type, field.type)) {
    if (!upCasts(found.type, field.type)) throw notUpCast(view, found, field);
    const cast: Expression = { kind: 'cast', operand: value, type: field.type, safe: false };
    const shownField = { name: field.name, type: field.type, nullable: found.nullable, metadata };
    return { attribute: newAttribute(execution, field.name, shownField, qualifier), value: cast };
  }
  const shownField = { name: field.name, type: found.type, nullable: found.nullable, metadata };
  const keeps = field.name.toLowerCase() === found.name.toLowerCase() && !seen.has(attribute.id);
  seen.add(attribute.id);
  return keeps
    ? { attribute: { id: attribute.id, field: shownField, qualifier, frames: [] }, value }
    : { attribute: newAttribute(execution, field.name, shownField, qualifier), value };
}

function refuseTravel(view: CatalogView, { at, changes, changelog, appendedAfter }: TableSource): void {
  if (at === undefined && changes === undefined && changelog === undefined && appendedAfter === undefined) return;
  throw new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.TIME_TRAVEL',
    kind: 'unsupported',
    message: `The feature is not supported: Time travel on the relation: ${quotedName(view.parts)}.`,
    hint: 'it is a view: name the versions of the tables that it reads in a query of your own',
    parameters: { relationId: quotedName(view.parts) },
  });
}

function recursive(name: string, cycle: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'RECURSIVE_VIEW',
    message: `Recursive view ${name} detected (cycle: ${cycle.join(' -> ')}).`,
    parameters: { viewIdent: name, newPath: cycle.join(' -> ') },
    hint: 'a view may not read itself, whatever is in between',
  });
}

function tooDeep(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'VIEW_EXCEED_MAX_NESTED_DEPTH',
    message: `The depth of view ${name} exceeds the maximum view resolution depth (${maxViewDepth}).`,
    hint: 'let a view in between read the tables themselves',
    parameters: { viewName: name, maxNestedDepth: String(maxViewDepth) },
  });
}

function fewerColumns(view: CatalogView, column: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'INCOMPATIBLE_VIEW_SCHEMA_CHANGE',
    message: `The SQL query of view ${quotedName(view.parts)} has an incompatible schema change and column \`${column}\` cannot be resolved.`,
    hint: 'what it reads has lost columns since; CREATE OR REPLACE VIEW makes it anew',
    parameters: { viewName: quotedName(view.parts), colName: `\`${column}\``, expectedNum: String(view.schema.fields.length) },
  });
}

function notUpCast(view: CatalogView, from: Field, to: Field): AnalysisException {
  const [source, target] = [sqlTypeName(from.type), sqlTypeName(to.type)];
  return new AnalysisException({
    errorClass: 'CANNOT_UP_CAST_DATATYPE',
    message: `Cannot up cast \`${from.name}\` from "${source}" to "${target}": the column \`${to.name}\` of view ${quotedName(view.parts)} was of this type.`,
    hint: 'what it reads has another type since; CREATE OR REPLACE VIEW makes it anew',
    parameters: { expression: `\`${from.name}\``, sourceType: `"${source}"`, targetType: `"${target}"` },
  });
}
