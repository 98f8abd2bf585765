import { StoreUnavailableError, type StoreFailureKind } from '../../src/core/errors.ts';
import { MemoryStore } from '../../src/memory/memory-store.ts';

/** A store that fails as it is told to; it records what it was asked. */
export class FailingStore extends MemoryStore {
  failure: StoreFailureKind | Error | undefined;
  readonly refunded: string[] = [];
  /** Decisions that it was asked for. */
  asked = 0;

  override async consume(request: Parameters<MemoryStore['consume']>[0]) {
    this.asked++;
    // Charged all the same, as by a store whose answer is lost.
    const decision = await super.consume(request);
    this.#fail();
    return decision;
  }

  override async peek(charges: Parameters<MemoryStore['peek']>[0]) {
    this.#fail();
    return super.peek(charges);
  }

  override async refund(request: Parameters<MemoryStore['refund']>[0]) {
    this.refunded.push(request.id);
    return super.refund(request);
  }

  #fail(): void {
    if (this.failure instanceof Error) throw this.failure;
    if (this.failure) throw new StoreUnavailableError(this.failure, `told to fail: ${this.failure}`);
  }
}
