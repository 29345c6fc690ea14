import { maskInResults, shownValue } from '../../base/redaction.ts';
import { simpleTypeName } from '../../schema/simple-type.ts';
import type { CatalogView } from '../../table/catalog-views.ts';
import type { ObjectName } from '../statements/statement.ts';
import { quoted, textLiteral } from './sql-text.ts';
import type { StatementContext } from './statement-context.ts';

/** The catalog's view that a name means, where no table has the name. */
export async function catalogViewNamed({ runtime, signal }: StatementContext, { parts }: ObjectName): Promise<CatalogView | undefined> {
  const reference = runtime.tables.referenceOf(parts);
  const { catalog } = runtime.tables.resolve(parts);
  if (reference.kind === 'path' || catalog.views === undefined) return undefined;
  return (await runtime.tables.findPlain(reference, signal)) === undefined ? await runtime.tables.findView(reference, signal) : undefined;
}

interface DescribedRow {
  readonly [column: string]: string | undefined;
  readonly col_name: string;
  readonly data_type: string;
  readonly comment: string;
}

/** Rows of DESCRIBE [EXTENDED], as Spark shows an Iceberg view. */
export function describedView(view: CatalogView, extended: boolean): readonly DescribedRow[] {
  const columns = view.schema.fields.map(({ name, type, metadata }) => row(name, simpleTypeName(type), commentIn(metadata) ?? ''));
  if (!extended) return columns;
  const properties = viewProperties(view).map(([key, value]) => `${textLiteral(key)} = ${textLiteral(value)}`);
  return [
    ...columns,
    row('', ''),
    row('# Detailed View Information', ''),
    row('Comment', view.comment ?? ''),
    row('View Catalog and Namespace', view.parts.slice(0, -1).map(quoted).join('.')),
    row('View Query Output Columns', `[${view.queryColumns.join(', ')}]`),
    row('View Properties', `[${properties.join(', ')}]`),
    row('Created By', view.createdBy ?? ''),
  ];
}

/** What SHOW CREATE TABLE shows of a view. */
export function createViewText(view: CatalogView): string {
  const columns = view.schema.fields.map(({ name, metadata }) => {
    const comment = commentIn(metadata);
    return `  ${quoted(name)}${comment === undefined ? '' : ` COMMENT ${textLiteral(comment)}`}`;
  });
  const properties = viewProperties(view).map(([key, value]) => `  ${textLiteral(key)} = ${textLiteral(value)}`);
  return [
    `CREATE VIEW ${view.parts.map(quoted).join('.')} (\n${columns.join(',\n')})`,
    ...(view.comment === undefined ? [] : [`COMMENT ${textLiteral(view.comment)}`]),
    `TBLPROPERTIES (\n${properties.join(',\n')})`,
    `AS\n${view.query}\n`,
  ].join('\n');
}

/** By key, what is secret among them masked. */
export function viewProperties({ properties }: CatalogView): readonly (readonly [string, string])[] {
  return Object.entries(properties)
    .map(([key, value]) => [key, shownValue(key, value, maskInResults)] as const)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function commentIn(metadata: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const comment = metadata?.['comment'];
  return typeof comment === 'string' ? comment : undefined;
}

function row(name: string, value: string, comment = ''): DescribedRow {
  return { col_name: name, data_type: value, comment };
}
