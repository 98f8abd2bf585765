import { describe, expect, it } from '@jest/globals';
import { costPerDecision } from './redis-meter.ts';

const INFO = [
  '# CPU',
  'used_cpu_sys:1.000100',
  'used_cpu_user:2.000200',
  '# Stats',
  'total_net_input_bytes:1000',
  'total_net_output_bytes:300',
  '# Commandstats',
  'cmdstat_evalsha:calls=10,usec=50,usec_per_call=5.00,rejected_calls=0,failed_calls=0',
  'cmdstat_zadd:calls=20,usec=30,usec_per_call=1.50,rejected_calls=0,failed_calls=0',
  'cmdstat_config|resetstat:calls=1,usec=7,usec_per_call=7.00,rejected_calls=0,failed_calls=0',
].join('\r\n');

describe('the meter of Redis', () => {
  it('tells what Redis spent on each decision, without what the meter asked for itself', () => {
    const cost = costPerDecision(INFO, 3_000_000, 100);
    expect(cost).toMatchObject({ scriptUs: 0.5, scriptCalls: 0.1, commands: 0.3, bytesIn: 10, bytesOut: 3 });
    expect(cost.cpuUs).toBeCloseTo(3);
  });
});
