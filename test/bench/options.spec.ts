import { describe, expect, it } from '@jest/globals';
import { readOptions } from './options.ts';

describe('the options of the bench', () => {
  it('measure everything unless told otherwise', () => {
    expect(readOptions([])).toEqual({ quick: false, save: false, only: ['store', 'memory', 'http'] });
  });

  it('name parts, rounds and what to do with the figures', () => {
    expect(readOptions(['--save', '--only=http,store', '--rounds=3'])).toEqual({
      quick: false,
      save: true,
      only: ['http', 'store'],
      rounds: 3,
    });
  });

  it.each([
    ['--quick --save'],
    ['--only=network'],
    ['--only='],
    ['--rounds=0'],
    ['--rounds=many'],
    ['--fast'],
    ['store'],
  ])('make no sense: %s', (given) => {
    expect(readOptions(given.split(' '))).toBeUndefined();
  });
});
