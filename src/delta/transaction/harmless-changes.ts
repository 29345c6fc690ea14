import { isDeepStrictEqual } from 'node:util';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { MetadataAction, ProtocolAction } from '../actions.ts';
import { parseSchemaString } from '../schema-json.ts';

/** Features whose duties each attempt at a commit fulfils anew, or that ask nothing of rows already written. */
const harmlessFeatures: ReadonlySet<string> = new Set([
  'appendOnly',
  'domainMetadata',
  'inCommitTimestamp',
  'rowTracking',
  'v2Checkpoint',
  'vacuumProtocolCheck',
]);

/** Whether a protocol only gained features that files staged before do not break. */
export function harmlessUpgrade(before: ProtocolAction, after: ProtocolAction): boolean {
  const [had, has] = [before.writerFeatures, after.writerFeatures];
  if (had === undefined || has === undefined) return false;
  const dropped = had.some((feature) => !has.includes(feature));
  return !dropped && has.every((feature) => had.includes(feature) || harmlessFeatures.has(feature));
}

/** Whether metadata differs in nothing but how far identity columns have counted. */
export function changesIdentityMarksOnly(before: MetadataAction, after: MetadataAction): boolean {
  if (!isDeepStrictEqual({ ...before, schemaString: '' }, { ...after, schemaString: '' })) return false;
  const [had, has] = [before, after].map((metadata) => withoutMarks(parseSchemaString(metadata.schemaString, 'metaData')));
  return isDeepStrictEqual(had, has);
}

/** Whether metadata differs in nothing but the switch for row tracking. */
export function changesRowTrackingOnly(before: MetadataAction, after: MetadataAction): boolean {
  const rest = (metadata: MetadataAction): MetadataAction => ({
    ...metadata,
    configuration: Object.fromEntries(
      Object.entries(metadata.configuration).filter(
        ([key]) => key !== 'delta.enableRowTracking' && key !== 'delta.rowTrackingSuspended' && !key.startsWith('delta.rowTracking.'),
      ),
    ),
  });
  return isDeepStrictEqual(rest(before), rest(after));
}

function withoutMarks(schema: StructType): DataType {
  return { kind: 'struct', fields: schema.fields.map(withoutMark) };
}

function withoutMark(field: Field): Field {
  const metadata = Object.entries(field.metadata ?? {}).filter(([key]) => key !== 'delta.identity.highWaterMark');
  return { ...field, metadata: Object.fromEntries(metadata) };
}
