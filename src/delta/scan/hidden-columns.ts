import { buildBatch, type InputRow } from '../../codec/build-columns.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { DataType } from '../../schema/types.ts';
import { type HiddenColumn, type HiddenValue, ofFiles } from '../../table/hidden-columns.ts';
import type { AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { rowTrackingColumnsOf } from '../row-tracking-columns.ts';

const long: DataType = { kind: 'long' };
const text: DataType = { kind: 'string' };
const microsPerMs = 1_000n;

/** The struct that Spark's file sources have beside the columns, with Delta's members of row tracking where the table tracks rows. */
export function hiddenColumnsOf(snapshot: DeltaSnapshot): readonly HiddenColumn[] {
  const tracked = rowTrackingColumnsOf(snapshot) !== undefined;
  const members = [
    member('file_path', text, { kind: 'of-file' }),
    member('file_name', text, { kind: 'of-file' }),
    member('file_size', long, { kind: 'of-file' }),
    member('file_block_start', long, { kind: 'of-file' }),
    member('file_block_length', long, { kind: 'of-file' }),
    member('file_modification_time', { kind: 'timestamp' }, { kind: 'of-file' }),
    member('row_index', long, { kind: 'position' }),
    ...(tracked
      ? [
          member('row_id', long, { kind: 'row-id' }),
          member('base_row_id', long, { kind: 'of-file' }),
          member('default_row_commit_version', long, { kind: 'of-file' }),
          member('row_commit_version', long, { kind: 'commit-version' }),
        ]
      : []),
  ];
  const type: DataType = { kind: 'struct', fields: members.map(({ field }) => field) };
  return [{ field: { name: '_metadata', type, nullable: false }, value: { kind: 'struct', members } }];
}

/** What files say of themselves for the hidden columns. */
export function factsOf(hidden: readonly HiddenColumn[], files: readonly { readonly file: AddFile; readonly path: string }[]): ColumnBatch {
  return buildBatch(
    ofFiles(hidden),
    files.map(({ file, path }) => factRow(file, path)),
  );
}

/** What a file says of itself. Files are read whole: the block is all of it. `path`: absolute, or a URI of which nothing is encoded. */
export function factRow(file: AddFile, path: string): InputRow {
  return {
    file_path: uriOf(path),
    file_name: path.slice(path.lastIndexOf('/') + 1),
    file_size: file.sizeBytes,
    file_block_start: 0,
    file_block_length: file.sizeBytes,
    file_modification_time: BigInt(file.modifiedMs) * microsPerMs,
    base_row_id: file.baseRowId,
    default_row_commit_version: file.defaultRowCommitVersion,
  };
}

/** As Java prints URIs: characters that no path may have are encoded, those beyond ASCII are not, and local files have no `//`. */
function uriOf(path: string): string {
  const encoded = path.replaceAll(/[^\w\-.!~*'():@&=+$,;/\u0080-\u{10ffff}]|[\p{Z}\p{Cc}]/gu, encodeURIComponent);
  return path.startsWith('/') ? `file:${encoded}` : encoded;
}

function member(name: string, type: DataType, value: HiddenValue): HiddenColumn {
  return { field: { name, type, nullable: true }, value };
}
