import { startEmbeddedRedis } from '../../src/app/embedded/redis-server.ts';

// Starts a server, tells its process id, and waits to be killed.
const [dir, orphanGraceMs] = process.argv.slice(2);
const server = await startEmbeddedRedis({ dir: dir ?? '', orphanGraceMs: Number(orphanGraceMs) });
console.log(server.pid);
setInterval(() => undefined, 60_000);
