import { printColumnType } from '../expr/parse/column-type.ts';
import type { EvolutionPolicy } from '../protocol/table-needs.ts';
import { evolvesTo } from '../schema/evolves-to.ts';
import type { DataType, Field } from '../schema/types.ts';
import type { TableDetail } from '../table/definition-changes.ts';
import { traitsOf } from '../table/formats.ts';
import { printTransform, type Transform } from '../table/partitioning/transform.ts';
import { printWriteOrder } from '../table/partitioning/write-order.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { TableDefinition } from '../table/table.ts';
import type { TableSettings } from './table-settings.ts';

/** One way in which a table is not what the configuration declares. Comments and the order of columns are none. */
export interface Drift {
  readonly kind:
    | 'missing-column'
    | 'added-column'
    | 'type'
    | 'nullability'
    | 'partitioning'
    | 'identifier-columns'
    | 'sort-order'
    | 'property';
  /** Path of the column, or name of the property; empty of the table as a whole. */
  readonly name: string;
  readonly configured: string;
  readonly has: string;
  readonly cure: string;
  /** It changes nothing of what becomes of records: it is named, and never stops the ingest. */
  readonly harmless: boolean;
}

type Nullable = Pick<Field, 'type' | 'nullable'>;

/** What is no drift, or a harmless one: what the table's own records have made of it. */
interface DriftRules {
  readonly smallIntegers: boolean;
  readonly evolve: EvolutionPolicy | undefined;
}

/** How the columns and the partitioning that rows are written by differ from the declared ones. */
export function layoutDrift({ definition, format, evolve }: TableSettings, write: WriteSpec): readonly Drift[] {
  const rules = { smallIntegers: traitsOf[format].smallIntegers, evolve };
  const drifts = memberDrift(definition.schema.fields, write.schema.fields, '', rules);
  const configured = partitionTexts(definition.partitioning, definition.partitionColumns);
  const has = partitionTexts(write.partitioning, write.partitionColumns);
  if (configured === has) return drifts;
  const cure = 'declare the partitioning that the table has, or change the table’s';
  return [...drifts, { kind: 'partitioning', name: '', configured, has, cure, harmless: false }];
}

/** How what is said of the table beside its columns differs: only what the configuration sets is looked at. */
export function definitionDrift({ definition }: TableSettings, detail: TableDetail): readonly Drift[] {
  const identifiers = (definition.identifierColumns ?? []).toSorted().join(', ');
  const has = (detail.shownProperties?.['identifier-fields'] ?? '').replace(/^\[|\]$/g, '');
  const hasIdentifiers = has.split(',').toSorted().join(', ');
  const ofColumns: readonly Drift[] =
    identifiers === hasIdentifiers
      ? []
      : [
          {
            kind: 'identifier-columns',
            name: '',
            configured: identifiers === '' ? 'none' : identifiers,
            has: hasIdentifiers === '' ? 'none' : hasIdentifiers,
            cure: 'declare the identifier columns that the table has, or change them: ALTER TABLE … SET IDENTIFIER FIELDS',
            harmless: false,
          },
        ];
  return [
    ...ofColumns,
    ...sortDrift(definition, detail),
    ...Object.entries(definition.properties).flatMap(([key, value]) => propertyDrift(key, value, detail)),
  ];
}

/** Files are written in no order, so that it changes nothing of them. */
function sortDrift({ sortOrder }: TableDefinition, { shownProperties }: TableDetail): readonly Drift[] {
  if (sortOrder === undefined) return [];
  const configured = printWriteOrder(sortOrder.map((key) => ({ ...key, column: key.source.join('.') })));
  const has = shownProperties?.['sort-order'] ?? 'none';
  const cure = 'declare the sort order that the table has, or change it: ALTER TABLE … WRITE ORDERED BY';
  return configured === has ? [] : [{ kind: 'sort-order', name: '', configured, has, cure, harmless: true }];
}

/** One drift as a line: what, configured, has, cure. */
export function driftText({ kind, name, configured, has, cure }: Drift): string {
  const what = kind === 'property' ? `property "${name}"` : name === '' ? kind.replace('-', ' ') : `column "${name}"`;
  return `${what}: configured ${configured}, the table has ${has} (${cure})`;
}

function memberDrift(configured: readonly Field[], has: readonly Field[], path: string, rules: DriftRules): readonly Drift[] {
  const [declared, present] = [byName(configured), byName(has)];
  const missing = configured.filter(({ name }) => !present.has(name)).map((field) => missingColumn(path + field.name, field, has));
  const shared = configured.flatMap((field) => {
    const other = present.get(field.name);
    return other === undefined ? [] : columnDrift(field, other, path + field.name, rules);
  });
  const added = has.filter(({ name }) => !declared.has(name)).map((field) => addedColumn(path + field.name, field));
  return [...missing, ...shared, ...added];
}

function byName(fields: readonly Field[]): ReadonlyMap<string, Field> {
  return new Map(fields.map((field) => [field.name, field]));
}

function missingColumn(name: string, field: Field, has: readonly Field[]): Drift {
  const spelled = has.find((other) => other.name.toLowerCase() === field.name.toLowerCase())?.name;
  const cure =
    spelled === undefined ? 'take it out of the configuration, or add it to the table: ALTER TABLE … ADD COLUMN' : `write "${spelled}"`;
  return { kind: 'missing-column', name, configured: columnText(field), has: 'no such column', cure, harmless: false };
}

/** One that may be null takes the payload’s member of its name, as `docs/spec/json-decoding.md` says. */
function addedColumn(name: string, field: Field): Drift {
  const cure = field.nullable ? 'it takes the payload’s member of its name; declare it to say so' : 'declare it, or drop NOT NULL from it';
  return { kind: 'added-column', name, configured: 'no such column', has: columnText(field), cure, harmless: field.nullable };
}

function columnDrift(configured: Nullable, has: Nullable, name: string, rules: DriftRules): readonly Drift[] {
  const drifts = [...typeDrift(configured.type, has.type, name, rules)];
  if (configured.nullable === has.nullable) return drifts;
  const cure = `set nullable: ${String(has.nullable)} in the configuration, or change the table’s column`;
  const harmless = rules.evolve?.relaxRequired === true && has.nullable;
  return [...drifts, { kind: 'nullability', name, configured: nullText(configured), has: nullText(has), cure, harmless }];
}

function typeDrift(configured: DataType, has: DataType, name: string, rules: DriftRules): readonly Drift[] {
  if (configured.kind === 'struct' && has.kind === 'struct') return memberDrift(configured.fields, has.fields, `${name}.`, rules);
  if (configured.kind === 'list' && has.kind === 'list') {
    const element = (type: typeof has): Nullable => ({ type: type.element, nullable: type.elementNullable });
    return columnDrift(element(configured), element(has), `${name}.element`, rules);
  }
  if (configured.kind === 'map' && has.kind === 'map') {
    const value = (type: typeof has): Nullable => ({ type: type.value, nullable: type.valueNullable });
    const keys = typeDrift(configured.key, has.key, `${name}.key`, rules);
    return [...keys, ...columnDrift(value(configured), value(has), `${name}.value`, rules)];
  }
  // A table that is created with them has them of 32 bits.
  const isSmall = !rules.smallIntegers && (configured.kind === 'byte' || configured.kind === 'short');
  const [wanted, found] = [isSmall ? 'integer' : printColumnType(configured), printColumnType(has)];
  if (wanted === found) return [];
  const cure = `set the type to ${found} in the configuration, or change the table’s column: ALTER TABLE … ALTER COLUMN … TYPE`;
  const harmless = rules.evolve?.widenTypes === true && evolvesTo(configured, has);
  return [{ kind: 'type', name, configured: wanted, has: found, cure, harmless }];
}

function columnText(field: Nullable): string {
  return `${printColumnType(field.type)}${field.nullable ? '' : ' not null'}`;
}

function nullText({ nullable }: Nullable): string {
  return nullable ? 'nullable' : 'not null';
}

function partitionTexts(
  rules: readonly { readonly source: readonly string[]; readonly transform: Transform }[] | undefined,
  columns: readonly string[],
): string {
  const fields = rules ?? columns.map((name) => ({ source: [name], transform: { kind: 'identity' } as const }));
  const texts = fields.map(({ source, transform }) =>
    transform.kind === 'identity' ? source.join('.') : `${printTransform(transform)}(${source.join('.')})`,
  );
  return texts.length === 0 ? 'none' : texts.join(', ');
}

function propertyDrift(key: string, configured: string, detail: TableDetail): readonly Drift[] {
  const has = propertyOf(key, detail);
  if (has === configured || isAtLeast(key, configured, has)) return [];
  const cure = 'set what the table has in the configuration, or ALTER TABLE … SET TBLPROPERTIES';
  return [{ kind: 'property', name: key, configured, has: has ?? 'nothing', cure, harmless: true }];
}

/** What is asked for as a property may be kept as something else. */
function propertyOf(key: string, { properties, shownProperties, tableFeatures, ...detail }: TableDetail): string | undefined {
  const feature = /^delta\.feature\.(.+)$/.exec(key)?.[1];
  if (feature !== undefined) return tableFeatures.includes(feature) ? 'supported' : undefined;
  if (key === 'delta.minReaderVersion') return detail.minReaderVersion?.toString();
  if (key === 'delta.minWriterVersion') return detail.minWriterVersion?.toString();
  return properties[key] ?? shownProperties?.[key];
}

/** Versions of the protocol are lower bounds; a feature is there or not, however it is asked for. */
function isAtLeast(key: string, configured: string, has: string | undefined): boolean {
  if (has === undefined) return false;
  if (key.startsWith('delta.feature.')) return true;
  return /^delta\.min(Reader|Writer)Version$/.test(key) && Number(has) >= Number(configured);
}
