import { describe } from '@jest/globals';
import { survives } from './chaos.ts';
import { silent, stopped } from './scenarios/stalls.ts';

describe('an application', () => {
  survives(stopped);
  survives(stopped, 'fastify');
  survives(silent);
});
