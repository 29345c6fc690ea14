import { BullJobQueue } from '../../../src/maintenance/bull-queue.ts';

// Takes the first job it gets, says so, and waits to be killed.
const [url = '', prefix = ''] = process.argv.slice(2);
const queue = new BullJobQueue({ url, prefix, maxAttempts: 3, onConnection: () => undefined, onRefused: () => undefined });
queue.work(async ({ table }) => {
  console.log(`working on ${table}`);
  await new Promise(() => undefined);
}, 1);
setInterval(() => undefined, 60_000);
