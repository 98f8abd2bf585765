import { describe } from '@jest/globals';
import { survives } from './chaos.ts';
import { nodeKilled } from './scenarios/cluster.ts';

describe('an application', () => {
  survives(nodeKilled);
});
