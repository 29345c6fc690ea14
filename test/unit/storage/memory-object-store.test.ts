import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import { describeObjectStore } from '../../conformance/object-store.ts';
import { StepClock } from '../../support/step-clock.ts';

describeObjectStore('memory', () => {
  const store = new MemoryObjectStore({ name: 'test', clock: new StepClock() });
  return Promise.resolve({ store, reopen: () => store });
});
