import { describe, expect, it } from '@jest/globals';
import { createRateLimitStore } from '../../src/create-rate-limit-store.ts';
import { StoreFullError } from '../../src/core/errors.ts';
import type { RateLimitStore } from '../../src/core/rate-limit-store.ts';
import { ForeignStore } from '../../src/failure/foreign-store.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { charge, describeStore } from '../contract/store-contract.ts';

describeStore('a store of somebody else', (now) => new ForeignStore(new MemoryStore({ now })));

describe('a store of somebody else', () => {
  const failingWith = (error: unknown): RateLimitStore => ({
    consume: () => {
      throw error;
    },
    // What a fetch rejects with.
    peek: () => Promise.reject(error as Error),
    refund: () => Promise.reject(error as Error),
    reset: () => Promise.reject(error as Error),
  });
  const request = { id: 'a', charges: [charge()] };

  it.each([
    ['an error', new Error('no route to host')],
    ['a TypeError, as fetch gives them', new TypeError('fetch failed')],
    ['no error at all', 'closed'],
    ['what cannot be shown', Object.create(null) as object],
  ])('cannot decide when it fails with %s, thrown or rejected', async (_, error) => {
    const store = new ForeignStore(failingWith(error));
    const unavailable = { name: 'StoreUnavailableError', kind: 'unknown' };
    await expect(store.consume(request)).rejects.toMatchObject(unavailable);
    await expect(store.peek(request.charges)).rejects.toMatchObject(unavailable);
    await expect(store.refund(request)).rejects.toMatchObject(unavailable);
    await expect(store.reset(request.charges)).rejects.toMatchObject(unavailable);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a yes without budgets', { allowed: true, id: 'a' }],
    ['budgets without a verdict', { id: 'a', budgets: [] }],
    ['a verdict that is a text', { allowed: 'yes', budgets: [], refusedBy: [{}] }],
    ['a refusal by nothing', { allowed: false, budgets: [], refusedBy: [] }],
    ['a refusal that does not say by what', { allowed: false, budgets: [] }],
  ])('cannot decide when it answers %s', async (_, answer) => {
    const inner = { ...failingWith(undefined), consume: async () => answer, peek: async () => answer };
    const store = new ForeignStore(inner as RateLimitStore);
    const unavailable = { name: 'StoreUnavailableError', kind: 'unknown' };
    await expect(store.consume(request)).rejects.toMatchObject(unavailable);
    await expect(store.peek(request.charges)).rejects.toMatchObject(unavailable);
  });

  it('is decided for by its policy', async () => {
    const store = await createRateLimitStore({
      store: failingWith(new TypeError('fetch failed')),
      onStoreError: 'allow',
    });
    expect(await store.consume(request)).toMatchObject({ allowed: true, budgets: [] });
  });

  it('keeps its own words for what it cannot do', async () => {
    const full = new StoreFullError(new Set(), 1);
    await expect(new ForeignStore(failingWith(full)).consume(request)).rejects.toBe(full);
  });

  it('is closed with the application', async () => {
    let closed = 0;
    const inner = Object.assign(new MemoryStore(), { close: async () => void closed++ });
    await (await createRateLimitStore({ store: inner })).close?.();
    expect(closed).toBe(1);
  });

  it('is not made of options that a store does not have', async () => {
    const options = { url: 'redis://127.0.0.1', keyprefix: 'x' } as object;
    await expect(createRateLimitStore(options)).rejects.toThrow(/url is no option[\s\S]*keyprefix is no option/);
  });
});
