import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RuleLog } from '../../src/nest/rule-log.ts';
import { LogLines } from '../support/log-lines.ts';
import { ruleOf } from '../support/rules.ts';

describe('faults that requests cause', () => {
  let lines: LogLines;
  let nowMs: number;
  let log: RuleLog;
  const rule = ruleOf({ writtenOn: 'CatsController.list', label: 'burst' });

  beforeEach(() => {
    lines = new LogLines();
    Logger.overrideLogger(lines);
    nowMs = 5;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    log = new RuleLog();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    Logger.overrideLogger(false);
  });

  it('are told with the rule that they concern', () => {
    log.error(rule, 'no limit');

    expect(lines.errors).toEqual(['error: CatsController.list (burst): no limit']);
  });

  it('are told once a minute for each rule', () => {
    for (nowMs = 0; nowMs < 120_000; nowMs += 500) log.error(rule, `at ${nowMs}`);

    expect(lines.errors.map((line) => line.split(': ').pop())).toEqual(['at 0', 'at 60000']);
  });

  it('of one rule do not silence those of another', () => {
    log.error(rule, 'one');
    log.error(ruleOf({ label: 'other' }), 'other');

    expect(lines.errors).toHaveLength(2);
  });
});
