import { createHash } from 'node:crypto';
import type { Budget, Denied } from '../core/decision.ts';
import { draftHeaders, type PartitionKey } from '../transports/draft-headers.ts';
import { legacyHeaders, type HeaderFields } from '../transports/rate-limit-headers.ts';

/**
 * `'legacy'`: `X-RateLimit-Limit`, `-Remaining` and `-Reset`. `'draft-11'`: `RateLimit-Policy` and `RateLimit` of
 * draft-ietf-httpapi-ratelimit-headers-11, which is no standard yet and may change. `'none'`: neither.
 */
export type HeaderFormat = 'legacy' | 'draft-11' | 'none';

export const HEADER_FORMATS: readonly HeaderFormat[] = ['legacy', 'draft-11', 'none'];

/** The fields of an answer: of all budgets that were judged, or of a refusal. */
export type HeaderWriter = (budgets: readonly Budget[], denied?: Denied) => HeaderFields;

const PARTITION_KEY_BYTES = 12;

/** A part of a hash: enough to tell partitions apart, too little to find the key again. */
const hashedKey: PartitionKey = ({ key }) =>
  createHash('sha256').update(key).digest().subarray(0, PARTITION_KEY_BYTES).toString('base64');

export function headerWriter(formats: HeaderFormat | readonly HeaderFormat[], hasPartitionKey: boolean): HeaderWriter {
  const partitionKey = hasPartitionKey ? hashedKey : undefined;
  const isLegacy = formats.includes('legacy');
  const isDraft = formats.includes('draft-11');
  return (budgets, denied) => ({
    ...(isLegacy && legacyHeaders(denied ? denied.refusedBy.slice(0, 1) : budgets)),
    ...(isDraft && draftHeaders(budgets, denied, partitionKey)),
  });
}
