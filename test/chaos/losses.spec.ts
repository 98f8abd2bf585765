import { describe } from '@jest/globals';
import { survives } from './chaos.ts';
import { cut, flushed, restarted } from './scenarios/losses.ts';

describe('an application', () => {
  survives(restarted);
  survives(cut);
  survives(flushed);
});
