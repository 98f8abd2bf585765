import type { Charge } from '../core/charge.ts';
import type { RuleBlock } from './block-option.ts';
import type { RuleCharge } from './rule-charges.ts';

/** What a rule that blocks charges besides its own budget, for one identity. */
export interface BlockCharges {
  readonly own: Charge;
  readonly block: RuleBlock;
  /** Asks whether the identity is blocked: a log of one unit, that of the block. It takes nothing. */
  readonly probe: Charge;
  /** Begins the block. */
  readonly beginning: Charge;
  /** One more refusal. */
  readonly refusal: Charge;
}

/**
 * Undefined for a rule that does not block. The keys are those of the budget with an ending that no name and no place
 * has: `{ip:203.0.113.7}:POST /login#~10000:block`. The window tells apart rules that differ in nothing else.
 */
export function blockChargesOf({ rule, charge }: RuleCharge): BlockCharges | undefined {
  const { block } = rule;
  if (!block) return undefined;
  const window = typeof rule.writtenWindowMs === 'number' ? rule.writtenWindowMs : 'dynamic';
  const keyOf = (name: string): string => `${charge.key}#~${window}:${name}`;
  const { onStoreError } = charge;
  const common = { rule: rule.label, ...(onStoreError && { onStoreError }) };
  const beginning: Charge = { ...common, key: keyOf('block'), limit: 1, windowMs: block.forMs, cost: 1 };
  const refusal: Charge = { ...common, key: keyOf('refusals'), limit: block.after, windowMs: block.withinMs, cost: 1 };
  return { own: charge, block, beginning, probe: { ...beginning, cost: 0 }, refusal };
}
