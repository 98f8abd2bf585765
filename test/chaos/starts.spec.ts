import { describe } from '@jest/globals';
import { survives } from './chaos.ts';
import { startedWithout } from './scenarios/starts.ts';

describe('an application', () => {
  survives(startedWithout);
});
