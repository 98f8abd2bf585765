import { expect, it } from '@jest/globals';
import type { Platform } from '../support/nest-app.ts';
import type { Scenario } from './scenario.ts';
import { tryOut } from './trial.ts';
import { violationsOf } from './verdict.ts';

const PATIENCE_MS = 90_000;

/** What holds while this goes wrong, and after it, as a test. */
export function survives(scenario: Scenario, platform: Platform = 'express'): void {
  it(
    `holds deadline, limits and peace of the log with ${scenario.name}, on ${platform}`,
    async () => {
      expect(violationsOf(await tryOut(scenario, { platform }))).toEqual([]);
    },
    PATIENCE_MS,
  );
}
