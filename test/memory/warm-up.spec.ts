import { MemoryStore } from '../../src/memory/memory-store.ts';
import { describeWarmUp } from '../contract/warm-up.ts';

for (const layout of ['exact', 'compact'] as const) {
  describeWarmUp(
    'MemoryStore',
    (now, count) => {
      const store = new MemoryStore({ now });
      return Array.from({ length: count }, () => store);
    },
    layout,
    150,
  );
}
