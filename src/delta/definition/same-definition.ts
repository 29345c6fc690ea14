import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeType } from '../../schema/describe-type.ts';
import { schemaTree } from '../../schema/schema-tree.ts';
import type { TableDefinition } from '../../table/table.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { canonicalProperties } from '../property-catalogue.ts';
import { takeProtocolSettings } from '../protocol-for.ts';

/**
 * Whether a definition describes the table that is there. Parts that are not given (no columns, no properties) fit any table.
 *
 * @throws AnalysisException (42KD7) `DELTA_CREATE_TABLE_SCHEME_MISMATCH`, `DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING`,
 * `DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY`.
 */
export function checkSameDefinition(
  existing: DeltaSnapshot,
  wanted: { readonly location: string; readonly definition: TableDefinition; readonly arbitraryProperties?: boolean | undefined },
): void {
  const { definition, location } = wanted;
  if (definition.schema.fields.length > 0) {
    if (describeType(definition.schema) !== describeType(existing.schema)) throw otherSchema(existing, wanted);
    if (definition.partitionColumns.join('\0') !== existing.partitionColumns.join('\0')) {
      throw differs('DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING', location, 'partitioning', {
        specified: definition.partitionColumns.map((name) => `\`${name}\``).join(', '),
        existing: existing.partitionColumns.map((name) => `\`${name}\``).join(', '),
      });
    }
  }
  const properties = canonicalProperties(takeProtocolSettings(definition.properties).rest, wanted.arbitraryProperties);
  const other = Object.entries(properties).some(([key, value]) => existing.properties[key] !== value);
  if (!other) return;
  throw differs('DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY', location, 'properties', {
    specified: textOf(properties),
    existing: textOf(existing.properties),
  });
}

function otherSchema(
  existing: DeltaSnapshot,
  wanted: { readonly location: string; readonly definition: TableDefinition },
): AnalysisException {
  const specified = schemaTree(wanted.definition.schema);
  const present = schemaTree(existing.schema);
  return differs('DELTA_CREATE_TABLE_SCHEME_MISMATCH', wanted.location, 'schema', { specified, existing: present });
}

function differs(
  errorClass: string,
  location: string,
  what: string,
  sides: { readonly specified: string; readonly existing: string },
): AnalysisException {
  return new AnalysisException({
    errorClass,
    message:
      `The specified ${what} ${what === 'properties' ? 'do' : 'does'} not match the existing ${what} at ${location}.\n\n` +
      `== Specified ==\n${sides.specified}\n\n== Existing ==\n${sides.existing}`,
    parameters: { path: location, specified: sides.specified, existing: sides.existing },
    hint: 'leave the definition out to take the table as it is, or choose another location',
  });
}

function textOf(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join('\n');
}
