import { isJsonObject, type JsonObject, parseJson, printJson } from '../../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { puffinMagic, puffinTailBytes } from './puffin-format.ts';

/**
 * A Puffin file (https://iceberg.apache.org/puffin-spec/) whose blobs have other properties: the blobs themselves stay where they are. `name`
 * is the file's, for errors.
 *
 * @throws ServiceError `PUFFIN_CORRUPT` (kind corrupt), `PUFFIN_UNSUPPORTED` (kind unsupported) for a packed footer.
 */
export function withBlobProperties(
  bytes: Uint8Array,
  name: string,
  change: (properties: Readonly<Record<string, string>>) => Readonly<Record<string, string>>,
): Uint8Array {
  const { footer, startsAt } = footerOf(bytes, name);
  const { blobs } = footer;
  if (!Array.isArray(blobs)) throw corrupt(name, 'its footer lists no blobs');
  const changed = (blobs as readonly JsonObject[]).map((blob) =>
    isJsonObject(blob['properties']) ? { ...blob, properties: change(textMap(blob['properties'])) } : blob,
  );
  return Buffer.concat([bytes.subarray(0, startsAt), puffinFooter({ ...footer, blobs: changed })]);
}

/** From the footer's magic to the end of the file. */
export function puffinFooter(footer: JsonObject): Uint8Array {
  const payload = Buffer.from(printJson(footer));
  const tail = new Uint8Array(puffinTailBytes);
  new DataView(tail.buffer).setInt32(0, payload.byteLength, true);
  tail.set(puffinMagic, puffinTailBytes - puffinMagic.byteLength);
  return Buffer.concat([puffinMagic, payload, tail]);
}

function footerOf(bytes: Uint8Array, name: string): { readonly footer: JsonObject; readonly startsAt: number } {
  const tailAt = bytes.byteLength - puffinTailBytes;
  if (tailAt < 2 * puffinMagic.byteLength || !hasMagic(bytes, bytes.byteLength - puffinMagic.byteLength))
    throw corrupt(name, 'it does not end as one');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const payloadBytes = view.getInt32(tailAt, true);
  const startsAt = tailAt - payloadBytes - puffinMagic.byteLength;
  if (payloadBytes < 0 || startsAt < puffinMagic.byteLength || !hasMagic(bytes, startsAt))
    throw corrupt(name, `a footer of ${payloadBytes} bytes does not begin where it should`);
  if (view.getInt32(tailAt + 4, true) !== 0) throw packedFooter(name);
  const payload = bytes.subarray(tailAt - payloadBytes, tailAt);
  const footer = parseJson(Buffer.from(payload).toString('utf8'), name);
  if (!isJsonObject(footer)) throw corrupt(name, 'its footer is no object');
  return { footer, startsAt };
}

function hasMagic(bytes: Uint8Array, at: number): boolean {
  return puffinMagic.every((byte, index) => bytes[at + index] === byte);
}

function textMap(properties: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : [])),
  );
}

function corrupt(name: string, problem: string): ServiceError {
  return serviceError.corrupt('PUFFIN_CORRUPT', `Puffin file "${name}": ${problem}`, { hint: 'restore the file from a copy' });
}

function packedFooter(name: string): ServiceError {
  return serviceError.unsupported('PUFFIN_UNSUPPORTED', `Puffin file "${name}" has a packed footer, which this version does not read`, {
    hint: "rewrite the table's deletes with the engine that wrote the file (CALL system.rewrite_position_delete_files)",
  });
}
