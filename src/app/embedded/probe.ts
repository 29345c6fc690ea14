import { connect } from 'node:net';

const probeTimeoutMs = 2_000;
const maxAnswerBytes = 1024 * 1024;

/**
 * True when the broker on the port answers ApiVersions and Metadata lists at least one broker. A TCP connect succeeds
 * earlier than that, when topics cannot be made yet.
 */
export async function kafkaReady(port: number): Promise<boolean> {
  const versions = await exchange(port, kafkaRequest(apiVersions, 0, Buffer.alloc(0)), kafkaAnswerLength);
  if (versions === undefined || versions.length < 10 || versions.readInt16BE(8) !== 0) return false;
  // Metadata v1 of no topics: length, correlation id, broker count.
  const metadata = await exchange(port, kafkaRequest(metadataApi, 1, Buffer.alloc(4)), kafkaAnswerLength);
  return metadata !== undefined && metadata.length >= 12 && metadata.readInt32BE(8) >= 1;
}

/** True when the server on the port answers PING (not while it still loads its data). */
export async function redisReady(port: number): Promise<boolean> {
  const answer = await exchange(port, Buffer.from('PING\r\n'), (bytes) => {
    const end = bytes.indexOf('\r\n');
    return end < 0 ? undefined : end + 2;
  });
  return answer?.toString('latin1') === '+PONG\r\n';
}

const apiVersions = 18;
const metadataApi = 3;

function kafkaRequest(apiKey: number, version: number, body: Buffer): Buffer {
  const client = Buffer.from('probe');
  const head = Buffer.alloc(14);
  head.writeInt32BE(10 + client.length + body.length, 0);
  head.writeInt16BE(apiKey, 4);
  head.writeInt16BE(version, 6);
  head.writeInt32BE(1, 8);
  head.writeInt16BE(client.length, 12);
  return Buffer.concat([head, client, body]);
}

function kafkaAnswerLength(bytes: Buffer): number | undefined {
  return bytes.length < 4 ? undefined : 4 + bytes.readInt32BE(0);
}

/** One request, one answer; `undefined` when nothing that makes sense came in time. */
async function exchange(port: number, request: Buffer, answerLength: (bytes: Buffer) => number | undefined): Promise<Buffer | undefined> {
  return await new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let received = Buffer.alloc(0);
    const finish = (answer: Buffer | undefined): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(probeTimeoutMs, () => {
      finish(undefined);
    });
    socket.once('error', () => {
      finish(undefined);
    });
    socket.once('close', () => {
      finish(undefined);
    });
    socket.once('connect', () => {
      socket.write(request);
    });
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const length = answerLength(received);
      if (length !== undefined && received.length >= length) finish(received.subarray(0, length));
      else if (received.length > maxAnswerBytes) finish(undefined);
    });
  });
}
