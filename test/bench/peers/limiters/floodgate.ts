import { callIds, createRateLimitStore } from 'nestjs-floodgate';
import type { Limiter } from '../limiter.ts';

/** The store that the module uses, all wrappers included. */
export const floodgate: Limiter = async (redis, rule) => {
  const store = await createRateLimitStore({
    redis,
    // Other programs may stop this process for longer than the default allows; a deadline costs the same at any length.
    decisionTimeout: '5s',
    onStoreEvent(event) {
      // Kind `full`: of so many keys the fallback in process counts no more. Redis decided all the same.
      if (event.type !== 'unavailable' || event.error.kind === 'full') return;
      console.error('floodgate decided without Redis:', event.error);
      process.exit(1);
    },
  });
  const nextId = callIds();
  return async (key) => {
    const { allowed } = await store.consume({ id: nextId(), charges: [{ key, ...rule, cost: 1 }] });
    return allowed;
  };
};
