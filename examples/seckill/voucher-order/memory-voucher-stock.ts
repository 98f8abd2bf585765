import { VoucherStock } from './voucher-stock.ts';

/** The stock of a shop that is one process. */
export class MemoryVoucherStock extends VoucherStock {
  readonly #left: Map<string, number>;

  constructor(stock: Readonly<Record<string, number>>) {
    super();
    this.#left = new Map(Object.entries(stock));
  }

  async take(voucherId: string): Promise<boolean> {
    const left = this.#left.get(voucherId) ?? 0;
    if (left === 0) return false;
    this.#left.set(voucherId, left - 1);
    return true;
  }
}
