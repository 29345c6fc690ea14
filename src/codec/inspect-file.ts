import { type ServiceError, serviceError } from '../base/errors.ts';
import { readContainer } from './avro/read-container.ts';
import type { InspectedFile } from './inspected-file.ts';
import { openOrcFile } from './orc/read/read-orc.ts';
import { inspectParquet } from './parquet/inspect-parquet.ts';

/** An Avro file has no footer: it is fetched whole to be counted, up to this size. */
const maxWholeBytes = 1024 ** 3;

/**
 * Rows of a file by its own account, after its beginning and end were checked: footers of Parquet and ORC; of Avro, every block.
 *
 * @throws ServiceError (kind corrupt) saying what is wrong with it, `FILE_TOO_LARGE` (unsupported) for an Avro file that is not fetched.
 */
export async function inspectFile(format: 'parquet' | 'avro' | 'orc', file: InspectedFile): Promise<number> {
  switch (format) {
    case 'parquet':
      return inspectParquet(file);
    case 'orc':
      return (await openOrcFile({ name: file.name, byteCount: file.sizeBytes, read: file.read })).rowCount;
    case 'avro': {
      if (file.sizeBytes > maxWholeBytes) throw tooLarge(file);
      let rows = 0;
      for (const block of readContainer(await file.read({ from: 0, until: file.sizeBytes }), file.name).blocks()) rows += block.rowCount;
      return rows;
    }
  }
}

function tooLarge({ name, sizeBytes }: InspectedFile): ServiceError {
  return serviceError.unsupported(
    'FILE_TOO_LARGE',
    `avro file "${name}" has ${sizeBytes} bytes, and up to ${maxWholeBytes} are fetched to count its rows`,
    { hint: 'compact the table, or have its writer make smaller files' },
  );
}
