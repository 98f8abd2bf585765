import { describe, expect, it } from '@jest/globals';
import { applicableRules, type Layer } from '../../src/nest/rule-layers.ts';
import { ruleOf } from '../support/rules.ts';

type Written = Partial<Layer['metadata']> & { readonly names?: readonly string[] };

/** The layers from the outermost to the innermost, each of rules with these names. */
const layersOf = (...layers: readonly Written[]): readonly Layer[] =>
  layers.map(({ names = [], only = false, skipsAll = false, skipped = [] }, depth) => ({
    writtenOn: `layer ${depth}`,
    rules: names.map((name) => ruleOf(name === '-' ? { label: '-' } : { name, label: name })),
    metadata: { only, skipsAll, skipped },
  }));

function apply(...layers: readonly Written[]): { rules: readonly string[]; faults: readonly string[] } {
  const faults: string[] = [];
  const rules = applicableRules(layersOf(...layers), (fault) => faults.push(fault));
  return { rules: rules.map(({ label }) => label), faults };
}

describe('the rules of several layers', () => {
  it.each<[string, readonly Written[], readonly string[]]>([
    ['are none without layers', [], []],
    [
      'apply all, the outermost first',
      [{ names: ['a', 'b'] }, { names: ['c'] }, { names: ['d'] }],
      ['a', 'b', 'c', 'd'],
    ],
    ['apply through a layer that has none', [{ names: ['a'] }, {}, { names: ['b'] }], ['a', 'b']],
    ['end at a layer that skips all', [{ names: ['a'] }, { names: ['b'], skipsAll: true }], ['b']],
    ['end at a layer that replaces', [{ names: ['a'] }, { names: ['b'], only: true }], ['b']],
    [
      'go on further in than a layer that skips all',
      [{ names: ['a'] }, { names: ['b'], skipsAll: true }, { names: ['c'] }],
      ['b', 'c'],
    ],
    [
      'are those of the innermost layer that replaces',
      [{ names: ['a'] }, { names: ['b'], only: true }, { names: ['c'], only: true }],
      ['c'],
    ],
    ['lose those that a layer skips by name', [{ names: ['a', 'b'] }, { skipped: ['a'] }], ['b']],
    ['lose all of one name', [{ names: ['a'] }, { names: ['a', 'b'] }, { skipped: ['a'] }], ['b']],
    ['keep those beside the name that is skipped', [{ names: ['a'] }, { names: ['a'], skipped: ['a'] }], ['a']],
    ['keep those without a name', [{ names: ['-', 'a'] }, { skipped: ['a'] }], ['-']],
    ['keep what stands further out when a layer without rules replaces nothing', [{ names: ['a'] }, {}], ['a']],
  ])('%s', (_, layers, rules) => {
    expect(apply(...layers)).toEqual({ rules, faults: [] });
  });

  it.each<[string, readonly Written[], RegExp]>([
    ['skips a name that there is not', [{ names: ['a'] }, { skipped: ['b'] }], /layer 1: .*"b".*further out/],
    ['skips a name beside it', [{}, { names: ['a'], skipped: ['a'] }], /layer 1: .*"a"/],
    ['skips a name further in', [{ skipped: ['a'] }, { names: ['a'] }], /layer 0: .*"a"/],
    ['skips what is skipped', [{ names: ['a'] }, { skipped: ['a'] }, { skipped: ['a'] }], /layer 2: .*"a"/],
    ['skips all and replaces', [{ names: ['a'] }, { names: ['b'], only: true, skipsAll: true }], /layer 1: .*only/],
    ['skips a name and replaces', [{ names: ['a'] }, { only: true, skipped: ['a'] }], /layer 1: .*only/],
  ])('are faulty when a layer %s', (_, layers, fault) => {
    expect(apply(...layers).faults).toEqual([expect.stringMatching(fault)]);
  });
});
