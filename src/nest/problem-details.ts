import type { Denied } from '../core/decision.ts';
import { retryAfterSeconds } from '../transports/rate-limit-headers.ts';

/** Where IANA keeps problem types; draft-ietf-httpapi-ratelimit-headers-11 asks for `quota-exceeded` there. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/** The body of a refusal as RFC 9457 (problem details) and the `quota-exceeded` type of the draft have it. */
export interface QuotaExceededProblem {
  /** Which problem it is: a URI. */
  readonly type: string;
  /** The problem in words that are the same for all of its type. */
  readonly title: string;
  /** 429. */
  readonly status: number;
  /** What the client is told. */
  readonly detail: string;
  /** The names of the rules that refused. */
  readonly 'violated-policies': readonly string[];
  /** Seconds, as the header `Retry-After` says them; absent when no waiting helps. */
  readonly retryAfter?: number;
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export function problemDetails(denied: Denied, message: string, status: number): QuotaExceededProblem {
  const retryAfter = retryAfterSeconds(denied);
  return {
    type: QUOTA_EXCEEDED,
    title: 'Too Many Requests',
    status,
    detail: message,
    'violated-policies': [...new Set(denied.refusedBy.map(({ rule = 'default' }) => rule))],
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

export const isProblem = (body: unknown): body is QuotaExceededProblem =>
  typeof body === 'object' && body !== null && 'violated-policies' in body;
