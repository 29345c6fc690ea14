import { describeJobQueue } from '../../conformance/job-queue.ts';
import { MemoryJobQueue } from '../../support/memory-queue.ts';

describeJobQueue('the memory queue', () => {
  const queue = new MemoryJobQueue({ maxAttempts: 2 });
  return Promise.resolve(Object.assign(queue, { [Symbol.asyncDispose]: () => queue.close() }));
});
