import { MemoryJobQueue } from '../../../src/maintenance/memory-queue.ts';
import { describeJobQueue } from '../../conformance/job-queue.ts';

describeJobQueue('the memory queue', () => {
  const queue = new MemoryJobQueue({ maxAttempts: 2 });
  return Promise.resolve(Object.assign(queue, { [Symbol.asyncDispose]: () => queue.close() }));
});
