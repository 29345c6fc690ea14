import { deletionVectorType, encodeDeletionVector } from '../../codec/puffin/deletion-vector-blob.ts';
import { type PuffinContent, writePuffin } from '../../codec/puffin/write-puffin.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { contentFile, type FileNames, fileNames } from './staging.ts';

/** Id of the column of row positions, which the vectors are about. */
const rowPositionId = 2147483645;
/** Puffin files end at about this size, as other delete files do. */
const targetFileBytes: number = 64 << 20;

interface Vector {
  readonly dataFile: ContentFile;
  readonly cardinality: number;
  readonly content: PuffinContent;
}

/** Writes deletion vectors into Puffin files, many to a file; nothing refers to them yet. */
export class DeletionVectorFiles {
  /** A vector each; several are in one file. */
  readonly staged: ContentFile[] = [];
  readonly #context: TableContext;
  readonly #signal: AbortSignal | undefined;
  readonly #names: FileNames;
  #vectors: Vector[] = [];
  #vectorBytes = 0;

  constructor(context: TableContext, state: SnapshotState, signal: AbortSignal | undefined) {
    this.#context = context;
    this.#signal = signal;
    // A file has the vectors of several partitions and is in none's directory.
    this.#names = fileNames(context, state, { specId: 0, fields: [] }, { format: 'puffin', content: 'position-deletes' });
  }

  /** The data file's deleted rows, all of them: ascending positions, those deleted before included. */
  async add(dataFile: ContentFile, positions: BigInt64Array): Promise<void> {
    if (positions.length === 0) return;
    const properties = { 'referenced-data-file': dataFile.path, cardinality: String(positions.length) };
    const content: PuffinContent = {
      type: deletionVectorType,
      fields: [rowPositionId],
      // Inherited from the snapshot that adds the file.
      snapshotId: -1n,
      sequenceNumber: -1n,
      properties,
      content: encodeDeletionVector(positions),
    };
    this.#vectors.push({ dataFile, cardinality: positions.length, content });
    this.#vectorBytes += content.content.length;
    if (this.#vectorBytes >= targetFileBytes) await this.#flush();
  }

  async finish(): Promise<readonly ContentFile[]> {
    await this.#flush();
    return this.staged;
  }

  async #flush(): Promise<void> {
    if (this.#vectors.length === 0) return;
    const vectors = this.#vectors;
    this.#vectors = [];
    this.#vectorBytes = 0;
    const { bytes, blobs } = writePuffin(
      vectors.map(({ content }) => content),
      { 'created-by': `${this.#context.engineName} ${this.#context.engineVersion}` },
    );
    const path = this.#names.location(this.#names.next([]));
    for (const [index, { dataFile, cardinality }] of vectors.entries()) {
      this.staged.push(
        contentFile({
          content: 'position-deletes',
          path,
          format: 'puffin',
          specId: dataFile.specId,
          partition: dataFile.partition,
          recordCount: cardinality,
          fileSizeBytes: bytes.length,
          referencedDataFile: dataFile.path,
          contentOffset: blobs[index]?.offset,
          contentSizeBytes: blobs[index]?.length,
        }),
      );
    }
    await this.#context.files.put(path, bytes, this.#signal);
  }
}
