import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const blockBytes = 512;

/** Unpacks a gzipped tar (ustar with pax headers, as our packs are) into a directory. Links and devices are left out. */
export function unpackTar(path: string | URL, directory: string): void {
  const bytes = gunzipSync(readFileSync(path));
  let longName: string | undefined;
  for (let offset = 0; offset + blockBytes <= bytes.length; ) {
    const header = bytes.subarray(offset, offset + blockBytes);
    if (header.every((byte) => byte === 0)) break;
    const size = Number.parseInt(textOf(header.subarray(124, 136)) || '0', 8);
    const content = bytes.subarray(offset + blockBytes, offset + blockBytes + size);
    offset += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'x') {
      longName = paxPath(content) ?? longName;
      continue;
    }
    const prefix = textOf(header.subarray(345, 500));
    const name = longName ?? (prefix === '' ? '' : `${prefix}/`) + textOf(header.subarray(0, 100));
    longName = undefined;
    const target = join(directory, name);
    if (type === '5') mkdirSync(target, { recursive: true });
    if (type !== '0' && type !== '\0') continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
}

/** The `path` record of a pax header: `<length> path=<value>\n`. */
function paxPath(content: Uint8Array): string | undefined {
  for (let offset = 0; offset < content.length; ) {
    const space = content.indexOf(0x20, offset);
    const length = Number(textOf(content.subarray(offset, space)));
    const record = Buffer.from(content.subarray(space + 1, offset + length - 1)).toString('utf8');
    if (record.startsWith('path=')) return record.slice('path='.length);
    offset += length;
  }
  return undefined;
}

function textOf(field: Uint8Array): string {
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end))
    .toString('utf8')
    .trim();
}
