import { createServer } from 'node:net';

/** A loopback port nobody listens on: `preferred` when it is free and not in `taken`, else one the system picks. */
export async function freePort(preferred: number | undefined, taken: readonly number[] = []): Promise<number> {
  if (preferred !== undefined && !taken.includes(preferred) && (await tryListen(preferred)) !== undefined) return preferred;
  for (;;) {
    const port = await tryListen(0);
    if (port !== undefined && !taken.includes(port)) return port;
  }
}

async function tryListen(port: number): Promise<number | undefined> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : undefined);
      });
    });
  });
}
