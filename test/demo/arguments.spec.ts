import { describe, expect, it } from '@jest/globals';
import { readArguments } from './arguments.ts';

describe('The arguments of the demo', () => {
  it.each([
    { args: [], read: {} },
    { args: ['--redis', 'redis://localhost:6379'], read: { redis: 'redis://localhost:6379' } },
    { args: ['--redis=rediss://shop:6380/1'], read: { redis: 'rediss://shop:6380/1' } },
    { args: ['--help'], read: { help: true } },
  ])('may be $args', ({ args, read }) => {
    expect({ ...readArguments(args) }).toEqual(read);
  });

  it.each([[['--fast']], [['redis://localhost']], [['--redis']], [['--redis', 'localhost:6379']], [['--redis', '']]])(
    'may not be %j',
    (args) => {
      expect(readArguments(args)).toBeUndefined();
    },
  );
});
