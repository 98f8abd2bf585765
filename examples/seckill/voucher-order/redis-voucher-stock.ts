import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { VoucherStock } from './voucher-stock.ts';

const SALE_SECONDS = 3_600;

const TAKE_ONE = `
  local left = tonumber(redis.call('GET', KEYS[1]) or 0)
  if left == 0 then return 0 end
  redis.call('DECR', KEYS[1])
  return 1`;

/** The stock of a shop of several processes. The first of them to start puts it on sale. */
export class RedisVoucherStock extends VoucherStock implements OnModuleInit, OnApplicationShutdown {
  readonly #client: Redis;
  readonly #keyPrefix: string;
  readonly #stock: Readonly<Record<string, number>>;

  constructor(url: string, keyPrefix: string, stock: Readonly<Record<string, number>>) {
    super();
    this.#client = new Redis(url);
    this.#keyPrefix = keyPrefix;
    this.#stock = stock;
  }

  async onModuleInit(): Promise<void> {
    for (const [voucherId, count] of Object.entries(this.#stock)) {
      await this.#client.set(this.#key(voucherId), count, 'EX', SALE_SECONDS, 'NX');
    }
  }

  async take(voucherId: string): Promise<boolean> {
    return (await this.#client.eval(TAKE_ONE, 1, this.#key(voucherId))) === 1;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#client.quit();
  }

  #key(voucherId: string): string {
    return `${this.#keyPrefix}:stock:${voucherId}`;
  }
}
