import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';
import type { PartitionValues } from '../table/staged-file.ts';
import { ActionReader, logCorrupt } from './action-reader.ts';
import { type Action, type AddFile, type DamagedAction, type DeletionVector, fileKey, type RemoveFile } from './actions.ts';
import { decodePath } from './paths.ts';

/** Where an action was read: named in errors, and the root that relative paths are relative to. */
export interface ActionSource {
  readonly file: string;
  readonly root: string;
}

/**
 * The actions of a commit file, in order, and what of it is damaged in a way that a later action would supersede: a member of `protocol`,
 * `metaData` or `add` that is missing or of the wrong type. Lines with actions this code does not know are left out.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt) naming file and line, for every other damage.
 */
export function parseCommit(
  bytes: Uint8Array,
  source: ActionSource,
): { readonly actions: readonly Action[]; readonly damaged: readonly DamagedAction[] } {
  const actions: Action[] = [];
  const damaged: DamagedAction[] = [];
  for (const { value, where } of placedLines(bytes, source)) {
    let action: Action | undefined;
    for (const [name, body] of Object.entries(value)) {
      // What is null is not there, whatever its name.
      const next = body === null || body === undefined ? undefined : soundOrDamaged(name, body, where, source.root);
      if (next !== undefined && 'error' in next) {
        damaged.push(next);
        continue;
      }
      // Which of them counts is answered differently by every engine.
      if (action !== undefined && next !== undefined)
        throw logCorrupt(where, `the line holds two actions, ${action.kind} and ${next.kind}`);
      action ??= next;
    }
    if (action !== undefined) actions.push(action);
  }
  return { actions, damaged };
}

/**
 * The objects of a file that has one a line, empty lines left out.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt) naming file and line, for what is no text or no object.
 */
export function* jsonLines(bytes: Uint8Array, source: ActionSource): Generator<JsonObject, void, undefined> {
  for (const { value } of placedLines(bytes, source)) yield value;
}

function* placedLines(
  bytes: Uint8Array,
  source: ActionSource,
): Generator<{ readonly value: JsonObject; readonly where: string }, void, undefined> {
  for (const [index, line] of textOf(bytes, source).split('\n').entries()) {
    if (line.trim() === '') continue;
    const where = `${source.file} line ${index + 1}`;
    const value = jsonOf(line, where);
    if (!isJsonObject(value)) throw logCorrupt(where, 'the line is not an object');
    yield { value, where };
  }
}

function soundOrDamaged(name: string, body: JsonValue, where: string, root: string): Action | DamagedAction | undefined {
  try {
    return actionOf(name, body, where, root);
  } catch (error) {
    const place = isServiceError(error, 'corrupt') ? placeOf(name, body, where, root) : undefined;
    if (place === undefined || !isServiceError(error)) throw error;
    return { place, error };
  }
}

/** What would supersede a damaged action; a file without a readable path or deletion vector has no place, and is damage for good. */
function placeOf(name: string, body: JsonValue, where: string, root: string): string | undefined {
  if (name === 'protocol' || name === 'metaData') return name;
  if (name !== 'add' || !isJsonObject(body)) return undefined;
  const read = new ActionReader(body, `${where}: ${name}`);
  return fileKey({ ...pathsOf(read, root), deletionVector: vectorOf(read) });
}

const actionNames: ReadonlySet<string> = new Set<Action['kind']>([
  'protocol',
  'metaData',
  'add',
  'remove',
  'cdc',
  'txn',
  'domainMetadata',
  'commitInfo',
]);

/**
 * The action a log calls `name`, or `undefined` when it is none that counts. `body` has the members of the JSON form.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (corrupt) for an action that is no object, or whose members are not what they should be.
 */
export function actionOf(name: string, body: JsonValue, where: string, root: string): Action | undefined {
  if (!actionNames.has(name)) return undefined;
  if (!isJsonObject(body)) throw logCorrupt(where, `"${name}" is not an object`);
  const read = new ActionReader(body, `${where}: ${name}`);
  switch (name) {
    case 'protocol':
      return {
        kind: 'protocol',
        minReaderVersion: read.integer('minReaderVersion'),
        minWriterVersion: read.integer('minWriterVersion'),
        readerFeatures: read.texts('readerFeatures'),
        writerFeatures: read.texts('writerFeatures'),
      };
    case 'metaData': {
      const format = new ActionReader(read.object('format') ?? {}, `${where}: format`);
      return {
        kind: 'metaData',
        id: read.text('id'),
        name: read.optionalText('name'),
        description: read.optionalText('description'),
        formatProvider: format.optionalText('provider') ?? 'parquet',
        formatOptions: definedTexts(format.map('options')),
        schemaString: read.text('schemaString'),
        partitionColumns: read.texts('partitionColumns') ?? [],
        configuration: definedTexts(read.map('configuration')),
        createdTimeMs: read.optionalInteger('createdTime'),
      };
    }
    case 'add':
      return addOf(read, root);
    case 'remove':
      return removeFileOf(read, root);
    case 'cdc':
      return {
        kind: 'cdc',
        ...pathsOf(read, root),
        partitionValues: read.map('partitionValues') ?? {},
        sizeBytes: read.integer('size'),
        tags: read.map('tags'),
      };
    case 'txn':
      return { kind: 'txn', appId: read.text('appId'), version: read.long('version'), lastUpdatedMs: read.optionalInteger('lastUpdated') };
    case 'domainMetadata':
      return {
        kind: 'domainMetadata',
        domain: read.text('domain'),
        configuration: read.optionalText('configuration') ?? '',
        removed: read.flag('removed') ?? false,
      };
    case 'commitInfo':
      return { kind: 'commitInfo', body };
    default:
      return undefined;
  }
}

/** A commit file: one action a line, `\n` after each. */
export function printActions(actions: readonly Action[]): Uint8Array {
  return new TextEncoder().encode(actions.map((action) => `${printJson({ [action.kind]: bodyOf(action) })}\n`).join(''));
}

/** The JSON form of an action's members. */
export function bodyOf(action: Action): JsonObject {
  switch (action.kind) {
    case 'protocol':
      return {
        minReaderVersion: action.minReaderVersion,
        minWriterVersion: action.minWriterVersion,
        readerFeatures: action.readerFeatures,
        writerFeatures: action.writerFeatures,
      };
    case 'metaData':
      return {
        id: action.id,
        name: action.name,
        description: action.description,
        format: { provider: action.formatProvider, options: action.formatOptions },
        schemaString: action.schemaString,
        partitionColumns: action.partitionColumns,
        configuration: action.configuration,
        createdTime: action.createdTimeMs,
      };
    case 'add':
    case 'remove':
      return fileBodyOf(action);
    case 'cdc':
      return {
        path: action.path,
        partitionValues: mapOf(action.partitionValues),
        size: action.sizeBytes,
        dataChange: false,
        tags: mapOf(action.tags),
      };
    case 'txn':
      return { appId: action.appId, version: action.version, lastUpdated: action.lastUpdatedMs };
    case 'domainMetadata':
      return { domain: action.domain, configuration: action.configuration, removed: action.removed };
    case 'commitInfo':
      return action.body;
  }
}

function fileBodyOf(action: AddFile | RemoveFile): JsonObject {
  const shared = {
    partitionValues: mapOf(action.partitionValues),
    size: action.sizeBytes,
    stats: action.stats,
    tags: mapOf(action.tags),
    deletionVector: action.deletionVector === undefined ? undefined : { ...action.deletionVector },
    baseRowId: action.baseRowId,
    defaultRowCommitVersion: action.defaultRowCommitVersion,
  };
  return action.kind === 'add'
    ? {
        path: action.path,
        ...shared,
        modificationTime: action.modifiedMs,
        dataChange: action.dataChange,
        clusteringProvider: action.clusteringProvider,
      }
    : {
        path: action.path,
        deletionTimestamp: action.deletedMs,
        dataChange: action.dataChange,
        extendedFileMetadata: action.extendedFileMetadata,
        ...shared,
      };
}

function addOf(read: ActionReader, root: string): AddFile {
  return {
    kind: 'add',
    ...pathsOf(read, root),
    partitionValues: read.requiredMap('partitionValues'),
    sizeBytes: read.integer('size'),
    modifiedMs: read.integer('modificationTime'),
    dataChange: read.flag('dataChange') ?? true,
    stats: read.optionalText('stats'),
    ...fileExtrasOf(read),
    clusteringProvider: read.optionalText('clusteringProvider'),
  };
}

function removeFileOf(read: ActionReader, root: string): RemoveFile {
  return {
    kind: 'remove',
    ...pathsOf(read, root),
    dataChange: read.flag('dataChange') ?? true,
    deletedMs: read.optionalInteger('deletionTimestamp'),
    extendedFileMetadata: read.flag('extendedFileMetadata'),
    partitionValues: read.map('partitionValues'),
    sizeBytes: read.optionalInteger('size'),
    stats: read.optionalText('stats'),
    ...fileExtrasOf(read),
  };
}

function fileExtrasOf(read: ActionReader): Pick<AddFile, 'tags' | 'deletionVector' | 'baseRowId' | 'defaultRowCommitVersion'> {
  return {
    tags: read.map('tags'),
    deletionVector: vectorOf(read),
    baseRowId: read.optionalLong('baseRowId'),
    defaultRowCommitVersion: read.optionalLong('defaultRowCommitVersion'),
  };
}

function vectorOf(read: ActionReader): DeletionVector | undefined {
  const body = read.object('deletionVector');
  if (body === undefined) return undefined;
  const vector = new ActionReader(body, `${read.where}: deletionVector`);
  return {
    storageType: vector.text('storageType'),
    pathOrInlineDv: vector.text('pathOrInlineDv'),
    offset: vector.optionalInteger('offset'),
    sizeInBytes: vector.integer('sizeInBytes'),
    cardinality: vector.integer('cardinality'),
  };
}

function pathsOf(read: ActionReader, root: string): { readonly path: string; readonly storedPath: string } {
  const path = read.text('path');
  return { path, storedPath: decodePath(path, root) };
}

/** Null stays visible in the log: every partition column must be there. */
function mapOf(values: PartitionValues | undefined): JsonObject | undefined {
  if (values === undefined) return undefined;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? null]));
}

function definedTexts(values: PartitionValues | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(values ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

function textOf(bytes: Uint8Array, source: ActionSource): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw logCorrupt(source.file, 'the file is not UTF-8', cause);
  }
}

function jsonOf(line: string, where: string): JsonValue {
  try {
    return parseJson(line, where);
  } catch (cause) {
    throw logCorrupt(where, 'the line is not JSON', cause);
  }
}
