import type { Rule } from '../../src/nest/rule.ts';

/** A rule as the start makes it, but for what the test says. */
export const ruleOf = (parts: Partial<Rule> = {}): Rule => ({
  writtenOn: 'CatsController.list',
  layout: undefined,
  warmUp: undefined,
  label: '20-per-10s',
  name: undefined,
  kind: 'method',
  place: 'GET /cats',
  isBucket: false,
  suffix: '',
  windowMs: 10_000,
  writtenWindowMs: parts.windowMs ?? 10_000,
  limit: 20,
  cost: 1,
  hasFunctions: false,
  count: 'all',
  key: undefined,
  block: undefined,
  skip: undefined,
  message: 'Too many requests.',
  when: 'afterGuards',
  onStoreError: 'allow',
  enforcePercent: 100,
  ...parts,
});
