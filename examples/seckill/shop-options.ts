/** What one process of the shop is started with; all its processes take the same. */
export interface ShopOptions {
  /** URL of the Redis that the processes share. Without it, limits and stock are this process's own. */
  readonly redis?: string;
  readonly keyPrefix?: string;
  /** Longest wait for a decision about a limit. */
  readonly decisionTimeout?: string;
  /** Signs the tokens that log-in gives. */
  readonly tokenSecret: string;
  /** How many of each voucher are for sale, by voucher id. */
  readonly stock: Readonly<Record<string, number>>;
}
