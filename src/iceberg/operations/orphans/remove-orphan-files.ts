import { throwIfAborted } from '../../../base/abort.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import { childLocation } from '../../location.ts';
import type { TableMetadata } from '../../metadata/table-metadata.ts';
import { fileNameOf } from '../../pointer/metadata-names.ts';
import type { LoadedMetadata } from '../../pointer/table-pointer.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../../scan/manifests.ts';
import type { TableContext } from '../../table-context.ts';
import { deleteFiles, refuseForeign } from '../delete-files.ts';
import { illegalArgument, refuseWithoutGc } from '../operation-errors.ts';
import { fits, type LocationParts, type PrefixMismatchMode, partsOf, type SameLocations, sameLocations } from './location-match.ts';

export interface OrphanRequest extends Pick<CommitOptions, 'signal'> {
  /** Files from before this time (milliseconds since the epoch) may go. Default: three days ago. */
  readonly olderThanMs?: number | undefined;
  /** Directory that is looked through. Default: the table's. */
  readonly location?: string | undefined;
  /** Finds them and deletes none. */
  readonly dryRun?: boolean | undefined;
  readonly maxConcurrentDeletes?: number | undefined;
  readonly equalSchemes?: ReadonlyMap<string, string> | undefined;
  readonly equalAuthorities?: ReadonlyMap<string, string> | undefined;
  /** Default: `error`. */
  readonly prefixMismatch?: PrefixMismatchMode | undefined;
}

export interface OrphanResult {
  /** Locations of the orphans; at most `maxReportedOrphans` of them. */
  readonly locations: readonly string[];
  readonly fileCount: number;
  readonly sizeBytes: number;
}

/** Files whose commit may still be on its way are not looked at: no writer takes so long. */
const defaultAgeMs = 3 * 24 * 60 * 60 * 1000;
export const maxReportedOrphans = 100_000;
/** Files that are compared with the metadata at once: the memory of a run. */
const maxCandidates = 500_000;
const maxReportedPrefixes = 10;

/**
 * Deletes files below a table's location that nothing of its metadata refers to and that are old enough. Files and directories whose name
 * begins with `_` or `.` are left alone, but for those of partitions.
 *
 * @throws AnalysisException `VALIDATION_FAILED` when `gc.enabled` is false; `INVALID_ARGUMENT` when a file is referred to under another
 * scheme or authority (`prefixMismatch`); ServiceError `FILE_OUTSIDE_TABLE` (invalid) for a location that is the table's by its metadata alone.
 */
export async function removeOrphanFiles(context: TableContext, request: OrphanRequest = {}): Promise<OrphanResult> {
  const { signal, maxConcurrentDeletes: atOnce } = request;
  if (atOnce !== undefined && atOnce < 1) {
    throw illegalArgument(`max_concurrent_deletes should have value > 0, value: ${atOnce}`);
  }
  const { loaded } = await context.refresh(signal);
  refuseWithoutGc(loaded.metadata.properties, 'delete orphan files');
  const olderThanMs = request.olderThanMs ?? context.clock.now() - defaultAgeMs;
  const search = new OrphanSearch(context, loaded.metadata, request);
  const location = request.location ?? loaded.metadata.location;
  refuseForeign(context, [childLocation(location, '*')]);
  let candidates = new Map<string, Candidate>();
  const found: Candidate[] = [];
  for await (const { location: at, modifiedMs, sizeBytes } of context.files.list(location, signal)) {
    throwIfAborted(signal);
    if (modifiedMs >= olderThanMs || search.isHidden(at, location)) continue;
    const parts = partsOf(at, search.same);
    candidates.set(parts.path, { location: at, parts, sizeBytes });
    if (candidates.size < maxCandidates) continue;
    found.push(...(await search.orphansOf(candidates, signal)));
    candidates = new Map();
  }
  found.push(...(await search.orphansOf(candidates, signal)));
  search.refuseMismatches();
  // All is known before anything is deleted: a mismatch must not be found half-way.
  const gone = request.dryRun === true ? found : await deleteThem(context, found, { atOnce, signal });
  return {
    locations: gone.slice(0, maxReportedOrphans).map((candidate) => candidate.location),
    fileCount: gone.length,
    sizeBytes: gone.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

interface Candidate {
  readonly location: string;
  readonly parts: LocationParts;
  readonly sizeBytes: number;
}

class OrphanSearch {
  readonly same: SameLocations;
  readonly #context: TableContext;
  readonly #mode: PrefixMismatchMode;
  readonly #partitionPrefixes: readonly string[];
  readonly #mismatches = new Set<string>();

  constructor(context: TableContext, metadata: TableMetadata, request: OrphanRequest) {
    this.#context = context;
    this.#mode = request.prefixMismatch ?? 'error';
    this.same = sameLocations(request.equalSchemes, request.equalAuthorities);
    this.#partitionPrefixes = hiddenPartitionPrefixes(metadata);
  }

  isHidden(location: string, root: string): boolean {
    const below = location.slice(root.replace(/\/+$/, '').length + 1);
    return below.split('/').some((name) => /^[_.]/.test(name) && !this.#partitionPrefixes.some((prefix) => name.startsWith(prefix)));
  }

  /** Those of the candidates that nothing refers to. */
  async orphansOf(candidates: Map<string, Candidate>, signal: AbortSignal | undefined): Promise<readonly Candidate[]> {
    if (candidates.size === 0) return [];
    const doubtful = new Map<string, LocationParts>();
    // Newer than the listing: what was committed while it went on is referred to.
    const { loaded } = await this.#context.refresh(signal);
    for await (const location of referredFiles(this.#context, loaded, signal)) {
      const referred = partsOf(location, this.same);
      const candidate = candidates.get(referred.path);
      if (candidate === undefined) continue;
      if (fits(referred, candidate.parts)) candidates.delete(referred.path);
      else doubtful.set(referred.path, referred);
    }
    for (const [path, referred] of doubtful) {
      const candidate = candidates.get(path);
      if (candidate === undefined || this.#mode === 'delete') continue;
      candidates.delete(path);
      this.#mismatches.add(`(${prefixOf(referred)}, ${prefixOf(candidate.parts)})`);
    }
    return [...candidates.values()].filter(({ location }) => fileNameOf(location) !== versionHintName);
  }

  /** @throws AnalysisException `INVALID_ARGUMENT` when there are some and they are not to be ignored. */
  refuseMismatches(): void {
    if (this.#mismatches.size === 0 || this.#mode !== 'error') return;
    throw illegalArgument(
      'Unable to determine whether certain files are orphan. Metadata references files that match listed/provided files except for ' +
        'authority/scheme. Please, inspect the conflicting authorities/schemes and provide which of them are equal by further configuring ' +
        "the action via equalSchemes() and equalAuthorities() methods. Set the prefix mismatch mode to 'NONE' to ignore remaining locations " +
        "with conflicting authorities/schemes or to 'DELETE' iff you are ABSOLUTELY confident that remaining conflicting authorities/schemes " +
        'are different. It will be impossible to recover deleted files. Conflicting authorities/schemes: ' +
        `[${[...this.#mismatches].slice(0, maxReportedPrefixes).join(', ')}].`,
      'the parameters are equal_schemes, equal_authorities and prefix_mismatch_mode (ERROR, IGNORE, DELETE)',
    );
  }
}

/** Directories of partition fields whose names begin as hidden files do. */
function hiddenPartitionPrefixes({ partitionSpecs }: TableMetadata): readonly string[] {
  const names = new Set(partitionSpecs.flatMap(({ fields }) => fields.map(({ name }) => name)));
  return [...names].filter((name) => /^[_.]/.test(name)).map((name) => `${name}=`);
}

function prefixOf({ scheme, authority }: LocationParts): string {
  return `${scheme === '' ? 'file' : scheme}://${authority}`;
}

async function deleteThem(
  context: TableContext,
  found: readonly Candidate[],
  options: { readonly atOnce: number | undefined; readonly signal: AbortSignal | undefined },
): Promise<readonly Candidate[]> {
  const locations = found.map(({ location }) => location);
  const gone = new Set(await deleteFiles(context.files, locations, options));
  return found.filter(({ location }) => gone.has(location));
}

/** Names of files that belong to a file-system table without being referred to. */
const versionHintName = 'version-hint.text';

/**
 * Every location that a table's newest metadata refers to: of the data of each of its snapshots, of its manifests and lists, of its earlier
 * metadata and of statistics. A location may come several times.
 *
 * @throws ServiceError when a manifest cannot be read: nothing is known then.
 */
export async function* referredFiles(source: MetadataSource, loaded: LoadedMetadata, signal?: AbortSignal): AsyncGenerator<string> {
  const { metadata, metadataLocation } = loaded;
  if (metadataLocation !== undefined) yield metadataLocation;
  for (const { metadataFile } of metadata.metadataLog) yield metadataFile;
  for (const { statisticsPath } of [...metadata.statistics, ...metadata.partitionStatistics]) yield statisticsPath;
  const seen = new Set<string>();
  for (const snapshot of metadata.snapshots) {
    if (snapshot.manifestList !== undefined) yield snapshot.manifestList;
    for (const manifest of await manifestsOf(source, metadata, snapshot, signal)) {
      if (seen.has(manifest.path)) continue;
      seen.add(manifest.path);
      yield manifest.path;
      for (const { file } of await entriesOf(source, metadata, manifest, signal)) yield file.path;
    }
  }
}
