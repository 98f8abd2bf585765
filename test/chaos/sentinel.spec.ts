import { describe } from '@jest/globals';
import { survives } from './chaos.ts';
import { masterKilled } from './scenarios/sentinel.ts';

describe('an application', () => {
  survives(masterKilled);
});
