/** The envelope of every answer of the shop. */
export interface Result<T> {
  readonly success: boolean;
  readonly errorMsg: string | null;
  readonly data: T | null;
  /** How many there are in all, where `data` is a page of a list. */
  readonly total: number | null;
}

export const ok = <T>(data: T): Result<T> => ({ success: true, errorMsg: null, data, total: null });

export const fail = (errorMsg: string): Result<never> => ({ success: false, errorMsg, data: null, total: null });
