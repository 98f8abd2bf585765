import { show } from '../core/show.ts';
import { isSameWarmUp } from '../core/warm-up.ts';
import { isSameBlock } from './block-option.ts';
import type { Rule } from './rule.ts';

const PARTS = ['kind', 'place', 'suffix', 'windowMs', 'limit', 'cost', 'layout', 'enforcePercent'] as const;

/** The rule of this name, or one of those that do not differ. @throws TypeError where there is none, or several */
export function soleRule(name: string, named: readonly Rule[]): Rule {
  const [rule, ...others] = named;
  if (!rule) throw new TypeError(`no rule is named ${show(name)}`);
  const isSame = (other: Rule): boolean =>
    PARTS.every((part) => other[part] === rule[part]) &&
    isSameBlock(other.block, rule.block) &&
    isSameWarmUp(other.warmUp, rule.warmUp);
  if (others.every(isSame)) return rule;
  throw new TypeError(
    `several rules are named ${show(name)}, which differ: give those that share a budget one bucket, and one limit`,
  );
}
