import { describe } from '@jest/globals';
import { survives } from './chaos.ts';
import { full } from './scenarios/refusals.ts';

describe('an application', () => {
  survives(full);
});
