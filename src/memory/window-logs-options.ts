/** Options of {@link WindowLogs}. */
export interface WindowLogsOptions {
  /** Live keys that are tracked at most. @default 100_000 */
  readonly maxKeys?: number;
  /** Milliseconds of a clock that never steps back, fractions included. @default performance.now */
  readonly now?: () => number;
}
