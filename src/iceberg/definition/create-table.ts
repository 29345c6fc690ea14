import { isServiceError } from '../../base/errors.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { HeldRelation, Relation } from '../../table/relation.ts';
import type { WriteResult } from '../../table/row-operations.ts';
import type { CreateRequest } from '../../table/table-formats.ts';
import { nameParts, tableExists, tableNotFound } from '../../table/table-names.ts';
import { checkedRows } from '../files/checked-rows.ts';
import { dataFormat } from '../files/compression.ts';
import { discardFiles } from '../files/discard-files.ts';
import { stageDataFiles } from '../files/stage-data-files.ts';
import { applyUpdates } from '../metadata/apply-updates.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import type { MetadataUpdate } from '../metadata/metadata-updates.ts';
import { requirementsFor } from '../metadata/requirements.ts';
import type { LoadedMetadata, TablePointer } from '../pointer/table-pointer.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { mainBranch, snapshotStateOf } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';
import { CommitFailedException } from '../transaction/commit-errors.ts';
import { commitUntilCertain } from '../transaction/commit-loop.ts';
import { commitProduced } from '../transaction/commit-snapshot.ts';
import { isAlreadyWritten, markUpdates } from '../transaction/idempotency.ts';
import { SnapshotProduction } from '../transaction/snapshot-production.ts';
import { creatingUpdates, replacingUpdates } from './planned-table.ts';

/** What creating works with, beside the pointer: what a context has before there is a table. */
export type CreateParts = Omit<TableContext, 'name' | 'pointer' | 'branch' | 'refresh' | 'adopt'>;

/** What came of a CREATE or REPLACE; the pointer has the table now. */
export interface CreatedTable {
  /** False: a table was there and was left as it is. */
  readonly created: boolean;
  /** `undefined` without rows. */
  readonly written: WriteResult | undefined;
  readonly state: SnapshotState;
}

/** Races with other creators are settled after so many rounds: each has seen another state of the table. */
const maxRounds = 10;

/**
 * CREATE TABLE, REPLACE TABLE, CREATE OR REPLACE TABLE, with or without rows (AS SELECT): one swap. Of several racing creators one wins.
 * A replaced table keeps its uuid, its snapshots and the ids of its columns; its first snapshot has no parent.
 *
 * @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS` (42P07), `TABLE_OR_VIEW_NOT_FOUND` (42P01), what `creatingUpdates`,
 * `replacingUpdates`, `checkSameDefinition` and `prepareRows` throw; the errors of `commitSnapshot`.
 */
export async function createTable(parts: CreateParts, pointer: TablePointer, request: CreateRequest): Promise<CreatedTable> {
  const { signal, mode } = request;
  for (let round = 1; ; round += 1) {
    const existing = await pointer.load(undefined, signal);
    const kept = existing === undefined ? undefined : leftAlone(existing, request);
    if (kept !== undefined) return kept;
    if (existing === undefined && mode === 'replace')
      throw tableNotFound(nameParts(request.name), 'use CREATE OR REPLACE TABLE to create it');
    try {
      return await makeTable(contextOf(parts, pointer), existing, request);
    } catch (error) {
      // Somebody else created it meanwhile: what a CREATE that came a moment later would say.
      const lost = existing === undefined && isServiceError(error, 'conflict') && round < maxRounds;
      if (!lost || (await pointer.load(undefined, signal)) === undefined) throw error;
    }
  }
}

/** A table that is there and stays as it is; `undefined`: it is to be replaced. @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS`. */
function leftAlone(existing: LoadedMetadata, request: CreateRequest): CreatedTable | undefined {
  const state = snapshotStateOf(existing, { branch: mainBranch });
  const left = { created: false, state };
  if (request.mode === 'create-if-absent') return { ...left, written: undefined };
  if (request.mode === 'create') {
    if (request.rows !== undefined || request.takeOver !== true) throw tableExists(nameParts(request.name));
    checkSameDefinition(state, request);
    return { ...left, written: undefined };
  }
  return isAlreadyWritten(state, request) ? { ...left, written: nothingWritten } : undefined;
}

const nothingWritten: WriteResult = { version: undefined, rowCount: 0, fileCount: 0, sizeBytes: 0 };

async function makeTable(context: TableContext, existing: LoadedMetadata | undefined, request: CreateRequest): Promise<CreatedTable> {
  const uuid = context.ids.uuid();
  const plan = (base: LoadedMetadata | undefined): readonly MetadataUpdate[] =>
    base === undefined ? creatingUpdates(request, uuid) : replacingUpdates(base.metadata, request);
  return request.rows === undefined
    ? await makeEmpty(context, existing, plan, request)
    : await makeWithRows(context, existing, plan(existing), { ...request, rows: request.rows });
}

async function makeEmpty(
  context: TableContext,
  existing: LoadedMetadata | undefined,
  plan: (base: LoadedMetadata | undefined) => readonly MetadataUpdate[],
  { signal, idempotency }: CreateRequest,
): Promise<CreatedTable> {
  const end = await commitUntilCertain(
    context,
    existing,
    {
      changeOn: (base) => {
        if ((base === undefined) !== (existing === undefined)) {
          throw new CommitFailedException(context.name, base === undefined ? 'the table was dropped' : 'the table was created meanwhile');
        }
        const updates = [...plan(base), ...markUpdates(idempotency)];
        return Promise.resolve({ requirements: requirementsFor(base?.metadata, updates, { replacing: true }), updates });
      },
      hasLanded: ({ tableUuid, currentSchemaId, currentSnapshotId }, { updates }) =>
        existing === undefined
          ? updates.some((update) => update.action === 'assign-uuid' && update.uuid === tableUuid)
          : tableUuid === existing.metadata.tableUuid &&
            currentSnapshotId === undefined &&
            currentSchemaId !== existing.metadata.currentSchemaId,
    },
    signal,
  );
  if (end.kind === 'nothing') throw new CommitFailedException(context.name, 'there was nothing to create');
  return { created: true, written: undefined, state: snapshotStateOf(end.loaded, { branch: mainBranch }) };
}

async function makeWithRows(
  context: TableContext,
  existing: LoadedMetadata | undefined,
  updates: readonly MetadataUpdate[],
  request: CreateRequest & { readonly rows: Relation },
): Promise<CreatedTable> {
  const { signal } = request;
  const metadata = applyUpdates(existing?.metadata, updates, { nowMs: context.clock.now(), baseLocation: existing?.metadataLocation });
  const shape = snapshotStateOf({ metadata, metadataLocation: undefined }, { branch: mainBranch });
  const added = await staged(context, shape, request);
  const production = new SnapshotProduction(
    context,
    {
      // Other engines call the first snapshot of a table an append, and one that takes the place of others an overwrite.
      kind: existing === undefined ? 'append' : 'overwrite',
      added,
      removed: [],
      validation: {},
      summary: {},
      updates,
      fresh: true,
    },
    { ...request, branch: mainBranch },
  );
  try {
    const { loaded } = await commitProduced(context, existing, production, signal);
    const state = snapshotStateOf(loaded, { branch: mainBranch });
    return { created: true, written: { version: state.version, ...totalsOf(added) }, state };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardFiles(context, added);
    throw error;
  }
}

/** The rows as data files, checked first. */
async function staged(
  context: TableContext,
  shape: SnapshotState,
  { rows, fileFormat, optimizedFileBytes, signal }: CreateRequest & { readonly rows: Relation },
): Promise<readonly ContentFile[]> {
  const engine = await context.engine();
  const held: HeldRelation[] = [];
  try {
    const tools = {
      context,
      engine,
      signal,
      holding: async (relation: Promise<HeldRelation>): Promise<HeldRelation> => {
        const kept = await relation;
        held.push(kept);
        return kept;
      },
    };
    const checked = await checkedRows(tools, shape, rows, { matchBy: 'position', storeAssignment: true });
    const format = fileFormat === undefined ? undefined : dataFormat('write-format', fileFormat);
    return await stageDataFiles(context, shape, checked, { format, targetFileBytes: optimizedFileBytes }, signal);
  } finally {
    for (const relation of held) await relation.dispose();
  }
}

function totalsOf(files: readonly ContentFile[]): Omit<WriteResult, 'version'> {
  return {
    fileCount: files.length,
    rowCount: files.reduce((sum, { recordCount }) => sum + recordCount, 0),
    sizeBytes: files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0),
  };
}

/** A context of a table that may not be there yet. */
function contextOf(parts: CreateParts, pointer: TablePointer): TableContext {
  return {
    ...parts,
    name: pointer.name,
    pointer,
    branch: mainBranch,
    refresh: async (signal) => {
      const loaded = await pointer.load(undefined, signal);
      if (loaded === undefined) throw tableNotFound(nameParts(pointer.name));
      return snapshotStateOf(loaded, { branch: mainBranch });
    },
    adopt: () => undefined,
  };
}

/**
 * A table that a name is given to must be what the definition says; one without columns says nothing.
 *
 * @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS` (42P07).
 */
function checkSameDefinition({ schema, partitionColumns }: SnapshotState, { name, definition }: CreateRequest): void {
  if (definition.schema.fields.length === 0) return;
  const wanted = definition.partitioning === undefined ? definition.partitionColumns.join() : undefined;
  const sameColumns =
    definition.schema.fields.length === schema.fields.length &&
    definition.schema.fields.every((field, index) => {
      const other = schema.fields[index];
      return other?.name.toLowerCase() === field.name.toLowerCase() && describeType(other.type) === describeType(field.type);
    });
  if (!sameColumns || (wanted !== undefined && wanted !== partitionColumns.join())) throw tableExists(name.split('.'));
}
