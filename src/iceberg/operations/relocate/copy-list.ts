import { serviceError } from '../../../base/errors.ts';

/** Files that one list names. */
const maxCopies = 1_000_000;

/** What is to be copied where: each pair once, in the order it was added. */
export class CopyList {
  readonly #targets = new Map<string, string>();
  readonly #table: string;

  constructor(table: string) {
    this.#table = table;
  }

  /** @throws ServiceError `ICEBERG_TOO_MANY_FILES` (kind unsupported). */
  add(source: string, target: string): void {
    this.#targets.set(source, target);
    if (this.#targets.size <= maxCopies) return;
    throw serviceError.unsupported(
      'ICEBERG_TOO_MANY_FILES',
      `table "${this.#table}": more than ${maxCopies} files are to be copied at once`,
      { hint: 'go by versions, oldest first: end_version => …, then start_version => that one; or create_file_list => false' },
    );
  }

  /** Lines of `source,target`, in quotes (RFC 4180) where a path has a comma, a quote or the end of a line. */
  csv(): Uint8Array {
    const lines: Uint8Array[] = [];
    let part = '';
    for (const [source, target] of this.#targets) {
      part += `${field(source)},${field(target)}\n`;
      if (part.length < partLength) continue;
      lines.push(Buffer.from(part));
      part = '';
    }
    return Buffer.concat([...lines, Buffer.from(part)]);
  }
}

/** Characters that are put together before they become bytes. */
const partLength = 1 << 20;

function field(path: string): string {
  return /[",\r\n]/.test(path) ? `"${path.replaceAll('"', '""')}"` : path;
}
