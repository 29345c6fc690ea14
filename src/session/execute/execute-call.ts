import { AnalysisException } from '../../base/analysis-exception.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { Procedure, ProcedureParameter, ProcedureValue } from '../../table/queries.ts';
import { quotedName, tableNotFound } from '../../table/table-names.ts';
import { namePath } from '../column.ts';
import type { CommandResult } from '../commands/command-result.ts';
import type { TableReference } from '../plan/plan.ts';
import type { RowInput } from '../rows/row.ts';
import type { CallArgument, Statement } from '../statements/statement.ts';
import { argumentValue, requireNamedLast } from './procedure-arguments.ts';
import { changelogView, changelogViewParameters, registerTable, registerTableParameters } from './session-procedures.ts';
import type { StatementContext } from './statement-context.ts';

type CallStatement = Extract<Statement, { readonly kind: 'call' }>;

/** Names of procedures are looked up in the namespace `system` of a catalog. */
const procedureNamespace = 'system';

const tableParameter: ProcedureParameter = { name: 'table', type: 'string', required: true };

/**
 * CALL catalog.system.procedure(arguments): arguments by name or by place. What the table's format does is among its `procedures`; a few
 * concern the session or the catalog.
 *
 * @throws AnalysisException `MISSING_CATALOG_ABILITY.PROCEDURES`, `FAILED_TO_LOAD_ROUTINE`, `WRONG_NUM_ARGS.WITHOUT_SUGGESTION`,
 * `REQUIRED_PARAMETER_NOT_FOUND`, `UNRECOGNIZED_PARAMETER_NAME`, `UNEXPECTED_POSITIONAL_ARGUMENT`, and what the procedure throws.
 */
export async function callProcedure(context: StatementContext, statement: CallStatement): Promise<CommandResult> {
  const { catalog, name } = procedureName(context, statement);
  requireNamedLast(name, statement.arguments);
  const inCatalog = (table: string): TableReference => ({ kind: 'name', parts: qualified(context, catalog, namePath(table)) });
  const readArguments = (parameters: readonly ProcedureParameter[]): Promise<ReadonlyMap<string, ProcedureValue>> =>
    argumentsFor(context, name, parameters, statement.arguments);
  if (name === 'create_changelog_view') {
    const args = await readArguments([tableParameter, ...changelogViewParameters]);
    return changelogView(context, inCatalog(tableOf(args)), args);
  }
  if (name === 'register_table') {
    const args = await readArguments([tableParameter, ...registerTableParameters]);
    return registerTable(context, inCatalog(tableOf(args)), args);
  }
  const reference = inCatalog(await tableArgument(context, name, statement.arguments));
  const table = await context.runtime.tables.findPlain(reference, context.signal);
  if (table === undefined) throw tableNotFound(reference.kind === 'name' ? reference.parts : [reference.path]);
  const procedure = table.procedures.find((candidate) => candidate.name === name);
  if (procedure === undefined) throw procedureNotFound(statement, table.procedures);
  const { signal } = context;
  const rows = await procedure.run(await readArguments([tableParameter, ...procedure.parameters]), signal, context.runtime.conf.zone);
  return { schema: procedure.output, rows: rows.map((row) => rowOf(procedure, row)) };
}

function rowOf(procedure: Procedure, values: readonly ProcedureValue[]): RowInput {
  return Object.fromEntries(procedure.output.fields.map((field, index) => [field.name, values[index]]));
}

function procedureName({ runtime }: StatementContext, { procedure }: CallStatement): { readonly catalog: string; readonly name: string } {
  const { parts } = procedure;
  const name = parts.at(-1)?.toLowerCase() ?? '';
  const { catalog, namespace } = runtime.tables.namespace(parts.slice(0, -1));
  if (parts.length > 1 && namespace.length === 1 && namespace[0]?.toLowerCase() === procedureNamespace)
    return { catalog: catalog.name, name };
  const hint = `write CALL catalog.${procedureNamespace}.procedure(…)`;
  if (catalog === runtime.tables.currentCatalog && parts[0]?.toLowerCase() !== catalog.name.toLowerCase()) {
    throw new AnalysisException({
      errorClass: 'MISSING_CATALOG_ABILITY.PROCEDURES',
      kind: 'unsupported',
      message: `Catalog ${catalog.name} does not support procedures of the name ${quotedName(parts)}.`,
      hint,
    });
  }
  throw notLoaded(parts, hint);
}

/** A table's name in a procedure's argument belongs to the catalog of the procedure unless it names another. */
function qualified({ runtime }: StatementContext, catalog: string, parts: readonly string[]): readonly string[] {
  const [first = ''] = parts;
  const namesCatalog = runtime.tables.catalogNames.some((known) => known.toLowerCase() === first.toLowerCase());
  if (namesCatalog && parts.length > 1) return parts;
  const current = runtime.tables.currentCatalog.name === catalog ? runtime.tables.currentNamespace : ['default'];
  return parts.length === 1 ? [catalog, ...current, ...parts] : [catalog, ...parts];
}

async function tableArgument(context: StatementContext, procedure: string, given: readonly CallArgument[]): Promise<string> {
  const argument = given.find(({ name }) => name?.toLowerCase() === tableParameter.name) ?? given.find(({ name }) => name === undefined);
  if (argument === undefined) throw missingArgument(procedure, tableParameter.name);
  const value = await argumentValue(context, tableParameter, argument.value);
  return typeof value === 'string' ? value : '';
}

function tableOf(args: ReadonlyMap<string, ProcedureValue>): string {
  const table = args.get(tableParameter.name);
  return typeof table === 'string' ? table : '';
}

async function argumentsFor(
  context: StatementContext,
  procedure: string,
  parameters: readonly ProcedureParameter[],
  given: readonly CallArgument[],
): Promise<ReadonlyMap<string, ProcedureValue>> {
  const values = new Map<string, ProcedureValue>();
  for (const [index, { name, value }] of given.entries()) {
    const parameter = name === undefined ? parameters[index] : parameters.find((candidate) => candidate.name === name.toLowerCase());
    if (parameter === undefined)
      throw name === undefined ? tooMany(procedure, parameters, given.length) : unknownArgument(procedure, name, parameters);
    if (values.has(parameter.name)) throw twice(procedure, parameter.name, given[parameters.indexOf(parameter)]?.name === undefined);
    values.set(parameter.name, await argumentValue(context, parameter, value));
  }
  for (const { name, required } of parameters) if (required && values.get(name) === undefined) throw missingArgument(procedure, name);
  return values;
}

function procedureNotFound({ procedure }: CallStatement, known: readonly Procedure[]): AnalysisException {
  const nearest = nearestName(
    procedure.parts.at(-1)?.toLowerCase() ?? '',
    known.map(({ name }) => name),
  );
  return notLoaded(
    procedure.parts,
    known.length === 0 ? 'Delta tables have statements: OPTIMIZE, VACUUM, RESTORE' : `did you mean ${nearest ?? known[0]?.name ?? ''}?`,
  );
}

function notLoaded(parts: readonly string[], hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'FAILED_TO_LOAD_ROUTINE',
    kind: 'not-found',
    message: `Failed to load routine ${quotedName(parts)}: there is no such procedure.`,
    hint,
  });
}

function missingArgument(procedure: string, parameter: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'REQUIRED_PARAMETER_NOT_FOUND',
    message: `Cannot invoke routine \`${procedure}\` because the parameter named \`${parameter}\` is required, but the routine call did not supply a value.`,
  });
}

function tooMany(procedure: string, parameters: readonly ProcedureParameter[], actualNum: number): AnalysisException {
  return new AnalysisException({
    errorClass: 'WRONG_NUM_ARGS.WITHOUT_SUGGESTION',
    message: `The \`${procedure}\` requires ${parameters.length} parameters but the actual number is ${actualNum}.`,
    parameters: { functionName: `\`${procedure}\``, expectedNum: String(parameters.length), actualNum: String(actualNum) },
    hint: `its parameters are ${parameters.map(({ name }) => name).join(', ')}`,
  });
}

function unknownArgument(procedure: string, argument: string, parameters: readonly ProcedureParameter[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNRECOGNIZED_PARAMETER_NAME',
    message: `Cannot invoke routine \`${procedure}\` because the routine call included an argument ${argument}, but it has no such parameter.`,
    hint: `its parameters are ${parameters.map(({ name }) => name).join(', ')}`,
  });
}

function twice(procedure: string, parameter: string, isByPlace: boolean): AnalysisException {
  return new AnalysisException({
    errorClass: `DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.${isByPlace ? 'BOTH_POSITIONAL_AND_NAMED' : 'DOUBLE_NAMED_ARGUMENT_REFERENCE'}`,
    message: `Call to routine \`${procedure}\` is invalid because it includes multiple argument assignments to the same parameter name \`${parameter}\`.`,
  });
}
