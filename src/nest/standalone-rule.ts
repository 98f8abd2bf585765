import { RateLimitConfigurationError } from '../core/errors.ts';
import { compileRule } from './compile-rule.ts';
import type { RateLimitOptions } from './rate-limit-options.ts';
import type { Rule } from './rule.ts';
import { ruleConflicts } from './rule-conflicts.ts';

/** What a rule that is given to {@link RateLimiter} may say: the rest is about requests. */
export type StandaloneRule = Pick<
  RateLimitOptions,
  | 'window'
  | 'limit'
  | 'exact'
  | 'warmUp'
  | 'type'
  | 'cost'
  | 'name'
  | 'bucket'
  | 'block'
  | 'onStoreError'
  | 'mode'
  | 'enforcePercent'
>;
const STANDALONE_OPTIONS: readonly string[] = [
  'window',
  'limit',
  'exact',
  'warmUp',
  'type',
  'cost',
  'name',
  'bucket',
  'block',
  'onStoreError',
  'mode',
  'enforcePercent',
];

/** The rules that are written on controllers and in the module. */
interface DeclaredRules {
  readonly rules: Iterable<Rule>;
  readonly named: (name: string) => readonly Rule[];
}

/** A rule that stands nowhere: it limits what its name or bucket says. @throws RateLimitConfigurationError */
export function standaloneRule(
  options: StandaloneRule,
  defaults: Partial<RateLimitOptions>,
  declared: DeclaredRules,
): Rule {
  const faults: string[] = [];
  const fault = (message: string): void => void faults.push(message);
  for (const option of Object.keys(options)) {
    if (!STANDALONE_OPTIONS.includes(option)) fault(`RateLimiter: ${option} is no option of a rule given to it`);
  }
  // Without a type, the identity that the caller gives is what counts.
  const identified = options.type === undefined ? { ...options, key: String } : options;
  const standing = { writtenOn: 'RateLimiter', place: `name ${options.name}` };
  const rule = compileRule(identified as RateLimitOptions, standing, defaults, fault);
  if (rule && rule.name === undefined && !rule.isBucket) fault('RateLimiter: a rule needs a name or a bucket');
  if (rule?.name !== undefined && declared.named(rule.name).length > 0) {
    fault(`RateLimiter: a declared rule is named ${JSON.stringify(rule.name)}: give its name, or another one`);
  }
  if (!rule || faults.length > 0) throw new RateLimitConfigurationError(faults);
  return inItsBucket(rule, options, declared.rules);
}

/** With the kind of identity and the block that the declared rules of its bucket have, where it says nothing of them. */
function inItsBucket(rule: Rule, { type }: StandaloneRule, rules: Iterable<Rule>): Rule {
  const [declared] = [...rules].filter(({ isBucket, place }) => isBucket && rule.isBucket && place === rule.place);
  const kind = type === undefined ? (declared?.kind ?? rule.kind) : rule.kind;
  const placed = { ...rule, kind, suffix: '', block: rule.block ?? declared?.block };
  const conflicts = ruleConflicts(declared ? [declared, placed] : [placed]);
  if (conflicts.length > 0) throw new RateLimitConfigurationError(conflicts);
  return placed;
}
