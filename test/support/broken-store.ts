import { StoreUnavailableError, type RateLimitStore } from 'nestjs-floodgate';

/** A store that cannot answer. */
export class BrokenStore implements RateLimitStore {
  timesAsked = 0;

  consume(): Promise<never> {
    return this.#fail();
  }

  peek(): Promise<never> {
    return this.#fail();
  }

  refund(): Promise<never> {
    return this.#fail();
  }

  reset(): Promise<never> {
    return this.#fail();
  }

  #fail(): Promise<never> {
    this.timesAsked++;
    return Promise.reject(new StoreUnavailableError('connection', 'the test broke this store'));
  }
}
