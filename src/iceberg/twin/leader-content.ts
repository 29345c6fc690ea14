import type { LeaderFile } from '../../table/twin.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { contentDescriber } from '../pipeline/staged-content.ts';
import type { SnapshotState } from '../snapshot-state.ts';

/**
 * What manifests say of a leader's files, which may be all that it has. What takes the most memory of it, the statistics of columns, is worked out when
 * it is asked for, and kept of one file.
 */
export function leaderContent(
  state: SnapshotState,
  files: readonly LeaderFile[],
  locationOf: (file: LeaderFile) => string,
): readonly ContentFile[] {
  const describe = contentDescriber(state, locationOf);
  let last: { readonly file: LeaderFile; readonly content: ContentFile } | undefined;
  const whole = (file: LeaderFile): ContentFile => {
    if (last?.file !== file) last = { file, content: describe(file) };
    return last.content;
  };
  return files.map((file) => {
    const { location, sizeBytes, rowCount, partition } = file;
    return new LateContent(file, describe({ location, sizeBytes, rowCount, partition, statistics: [] }), whole);
  });
}

class LateContent implements ContentFile {
  readonly content: ContentFile['content'];
  readonly path: string;
  readonly format: ContentFile['format'];
  readonly specId: number;
  readonly partition: ContentFile['partition'];
  readonly recordCount: number;
  readonly fileSizeBytes: number;
  readonly sortOrderId: number | undefined;
  readonly keyMetadata = undefined;
  readonly splitOffsets = undefined;
  readonly equalityIds = undefined;
  readonly firstRowId = undefined;
  readonly referencedDataFile = undefined;
  readonly contentOffset = undefined;
  readonly contentSizeBytes = undefined;
  readonly #file: LeaderFile;
  readonly #whole: (file: LeaderFile) => ContentFile;

  constructor(
    file: LeaderFile,
    { content, path, format, specId, partition, sortOrderId }: ContentFile,
    whole: (file: LeaderFile) => ContentFile,
  ) {
    this.#file = file;
    this.#whole = whole;
    this.content = content;
    this.path = path;
    this.format = format;
    this.specId = specId;
    this.partition = partition;
    this.sortOrderId = sortOrderId;
    this.recordCount = file.rowCount;
    this.fileSizeBytes = file.sizeBytes;
  }

  get columnSizes(): ContentFile['columnSizes'] {
    return this.#whole(this.#file).columnSizes;
  }

  get valueCounts(): ContentFile['valueCounts'] {
    return this.#whole(this.#file).valueCounts;
  }

  get nullValueCounts(): ContentFile['nullValueCounts'] {
    return this.#whole(this.#file).nullValueCounts;
  }

  get nanValueCounts(): ContentFile['nanValueCounts'] {
    return this.#whole(this.#file).nanValueCounts;
  }

  get lowerBounds(): ContentFile['lowerBounds'] {
    return this.#whole(this.#file).lowerBounds;
  }

  get upperBounds(): ContentFile['upperBounds'] {
    return this.#whole(this.#file).upperBounds;
  }
}
