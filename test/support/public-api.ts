import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const sources = join(import.meta.dirname, '../../src');

interface Place {
  readonly path: string;
  /** `*` is the whole module. */
  readonly name: string;
}

/** The declarations of one source as the built package has them: without comments, and without what is marked `@internal`. */
interface Module {
  /** Several for one name: a type beside a value, and overloads. */
  readonly declared: Map<string, readonly ts.Statement[]>;
  readonly imported: Map<string, Place>;
  readonly exported: Map<string, Place>;
}

const modules = new Map<string, Module>();

function moduleAt(path: string): Module {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const made: Module = { declared: new Map(), imported: new Map(), exported: new Map() };
  modules.set(path, made);
  for (const statement of declarationsOf(path).statements) readStatement(made, path, statement);
  return made;
}

/** The sources state the types of all that they export (`isolatedDeclarations`), so that each file's declarations are made from it alone. */
function declarationsOf(path: string): ts.SourceFile {
  const { outputText } = ts.transpileDeclaration(readFileSync(path, 'utf8'), {
    fileName: path,
    compilerOptions: { stripInternal: true, removeComments: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext },
  });
  return ts.createSourceFile(path, outputText, ts.ScriptTarget.ES2022, true);
}

function readStatement(into: Module, path: string, statement: ts.Statement): void {
  if (ts.isImportDeclaration(statement)) {
    const bindings = statement.importClause?.namedBindings;
    const from = pathOf(path, statement.moduleSpecifier);
    if (from === undefined || bindings === undefined) return;
    if (ts.isNamespaceImport(bindings)) into.imported.set(bindings.name.text, { path: from, name: '*' });
    else for (const each of bindings.elements) into.imported.set(each.name.text, { path: from, name: originalName(each) });
  } else if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    const from = pathOf(path, statement.moduleSpecifier);
    if (from === undefined || clause === undefined) return;
    if (ts.isNamespaceExport(clause)) into.exported.set(clause.name.text, { path: from, name: '*' });
    else for (const each of clause.elements) into.exported.set(each.name.text, { path: from, name: originalName(each) });
  } else {
    for (const name of declaredNames(statement)) {
      into.declared.set(name, [...(into.declared.get(name) ?? []), statement]);
      if (modifiersOf(statement).includes(ts.SyntaxKind.ExportKeyword)) into.exported.set(name, { path, name });
    }
  }
}

function pathOf(from: string, specifier: ts.Expression | undefined): string | undefined {
  if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return undefined;
  return join(dirname(from), specifier.text);
}

function originalName(specifier: ts.ImportSpecifier | ts.ExportSpecifier): string {
  return (specifier.propertyName ?? specifier.name).text;
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText());
  const named =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return named && statement.name !== undefined ? [statement.name.text] : [];
}

function modifiersOf(statement: ts.Statement): readonly ts.SyntaxKind[] {
  return ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []).map(({ kind }) => kind) : [];
}

/** Where a name that stands in a module is declared. Undefined: in another package, or in the language. */
function declarationPlace({ path, name }: Place): Place | undefined {
  if (name === '*') return { path, name };
  const { declared, imported, exported } = moduleAt(path);
  if (declared.has(name)) return { path, name };
  const next = imported.get(name) ?? exported.get(name);
  return next === undefined ? undefined : declarationPlace(next);
}

/** The names that a declaration's types refer to. What a constructor takes is left out: users are given these objects. */
function referredNames(node: ts.Node): readonly string[] {
  const names: string[] = [];
  const visit = (each: ts.Node): void => {
    if (ts.isConstructorDeclaration(each)) return;
    if (ts.isTypeReferenceNode(each)) names.push(leftmost(each.typeName));
    if (ts.isTypeQueryNode(each)) names.push(leftmost(each.exprName));
    if (ts.isExpressionWithTypeArguments(each)) names.push(each.expression.getText());
    ts.forEachChild(each, visit);
  };
  visit(node);
  return names;
}

function leftmost(name: ts.EntityName): string {
  return ts.isIdentifier(name) ? name.text : leftmost(name.left);
}

function declarationText(place: Place, indent = ''): string {
  const statements = moduleAt(place.path).declared.get(place.name) ?? [];
  const text = statements
    .map((statement) =>
      statement
        .getText()
        .replace(/^export /, '')
        .replace(/^declare /, ''),
    )
    .join('\n');
  // Made from one file alone, a method with a computed name is declared a second time, as a property.
  const lines = text.split('\n').filter((line) => !/^ *(#private;|\[Symbol\.\w+\]: )/.test(line));
  return lines.map((line) => indent + line.replace(/^( {4})+/, (spaces) => ' '.repeat(spaces.length / 2))).join('\n');
}

const keyOf = ({ path, name }: Place): string => `${path}:${name}`;
const byName = (one: readonly [string, Place], other: readonly [string, Place]): number => compare(one[0], other[0]);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Everything that `import … from 'tidewater'` gives: its declaration, and those of the types in it that have no exported name. */
export function renderPublicApi(): string {
  const entry = join(sources, 'index.ts');
  const exported = [...moduleAt(entry).exported].sort(byName);
  const shown: Place[] = [];
  const blocks = exported.map(([name, place]) => {
    const declared = declarationPlace(place);
    if (declared === undefined) throw new Error(`${name} is not declared in the sources`);
    if (declared.name !== '*') {
      shown.push(declared);
      return declarationText(declared);
    }
    const members = [...moduleAt(declared.path).exported].sort(byName).map(([, member]) => member);
    shown.push(...members);
    return [`namespace ${name} {`, ...members.map((member) => declarationText(member, '  ')), '}'].join('\n');
  });
  const unnamed = unnamedTypes(shown).map((place) => declarationText(place));
  return page(blocks, unnamed);
}

function unnamedTypes(shown: readonly Place[]): readonly Place[] {
  const known = new Set(shown.map(keyOf));
  const found = new Map<string, Place>();
  for (const place of shown) {
    for (const name of (moduleAt(place.path).declared.get(place.name) ?? []).flatMap(referredNames)) {
      const declared = declarationPlace({ path: place.path, name });
      if (declared !== undefined && declared.name !== '*' && !known.has(keyOf(declared))) found.set(keyOf(declared), declared);
    }
  }
  return [...found.values()].sort((one, other) => compare(one.name, other.name) || compare(one.path, other.path));
}

function page(exported: readonly string[], unnamed: readonly string[]): string {
  return `# What the library exports

Generated from the sources: \`UPDATE=1 npx vitest run --project fast test/public-api.test.ts\` writes it anew. A change of this page is a change for
everybody who imports the package; the [changelog](../../CHANGELOG.md) says which of them break.

## Names

\`\`\`ts
${exported.join('\n')}
\`\`\`

## Types without a name of their own

What the declarations above refer to and the package does not export by name. They are given and taken, not imported.

\`\`\`ts
${unnamed.join('\n')}
\`\`\`
`;
}
