/** A limit on each key. */
export interface Rule {
  readonly limit: number;
  readonly windowMs: number;
}

/** What a limiter is asked, over and over. */
export interface Workload {
  readonly name: string;
  readonly rule: Rule;
  /** Asked for in turn. Keys whose limit is used up make way for as many new ones where all is to be admitted. */
  readonly keys: number;
  readonly expected: 'admitted' | 'refused';
}

/** Which key the decision of this number, from 0, is about. */
export function keyNumber(decision: number, { keys, rule, expected }: Workload): number {
  if (expected === 'refused') return decision % keys;
  const usedUp = Math.floor(decision / (keys * rule.limit));
  return usedUp * keys + (decision % keys);
}

/** How many keys so many decisions were about. */
export function keysTouched(decisions: number, workload: Workload): number {
  if (workload.expected === 'refused') return Math.min(decisions, workload.keys);
  const perFill = workload.keys * workload.rule.limit;
  return Math.floor(decisions / perFill) * workload.keys + Math.min(decisions % perFill, workload.keys);
}
