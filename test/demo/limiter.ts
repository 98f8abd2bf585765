/** Decides one request of one budget: true admits it. Times are milliseconds and never decrease. */
export type Limiter = (nowMs: number) => boolean;

/** A way to limit, for any limit and window. */
export type Algorithm = (limit: number, windowMs: number) => Limiter;
