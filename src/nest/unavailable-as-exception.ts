import { StoreUnavailableError } from '../core/errors.ts';
import { RateLimitUnavailableException } from './rate-limit-unavailable.exception.ts';

/** The answer of a store, with its failure as applications catch it. */
export async function unavailableAsException<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof StoreUnavailableError ? new RateLimitUnavailableException(error) : error;
  }
}
