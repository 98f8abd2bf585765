import { describe, expect, it } from '@jest/globals';
import { LineView } from './line-view.ts';
import { LiveView } from './live-view.ts';
import { COLOURS, PLAIN } from './paint.ts';
import { timelineRows } from './timeline.ts';
import type { Visit } from './visit.ts';
import { visit } from './visits.ts';

const VISITS: readonly Visit[] = [
  visit(100),
  visit(200),
  ...Array.from({ length: 4 }, () => visit(600, { by: 'bot', outcome: 'refused' })),
  ...Array.from({ length: 30 }, () => visit(1_200, { by: 'bot', outcome: 'refused' })),
  ...Array.from({ length: 8 }, () => visit(9_600)),
];

describe('The timeline', () => {
  const rows = timelineRows(VISITS, 10_000, PLAIN);

  it('has a row for each party: the number admitted, or how many were refused, in each half second', () => {
    expect(rows[1]).toBe(`  crowd of 40   2${' '.repeat(18)}8${' '.repeat(24)}  10 of 10`);
    expect(rows[2]).toBe(`  one bot        ·▒${' '.repeat(41)}  0 of 34`);
  });

  it('shows how full the window is', () => {
    expect(rows.at(-1)).toBe(`  last 10 s     ${'▂'.repeat(19)}█${' '.repeat(24)}  10, limit 10`);
  });

  it('marks a window that is over its limit', () => {
    expect(timelineRows([...VISITS, visit(9_700)], 10_000, PLAIN).at(-1)).toContain('!');
  });

  it('fits into 80 columns', () => {
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});

describe('The live view', () => {
  it('draws over what it drew before', () => {
    const written: string[] = [];
    const view = new LiveView((text) => written.push(text), COLOURS);

    view.update(VISITS, 1_000);
    view.update(VISITS, 2_000);

    const height = written[0]!.split('\n').length - 1;
    expect(written[1]!.startsWith(`\u001b[${height}A\r`)).toBe(true);
    expect(written[1]).toContain('\u001b[32m');
  });
});

describe('The view for pipes', () => {
  it('writes a plain line for each second that is over, and the rest at the end', () => {
    let written = '';
    const view = new LineView((text) => (written += text));
    const lines = (): readonly string[] => written.split('\n').slice(1, -1);

    view.update(VISITS, 1_100);
    expect(lines()).toHaveLength(0);
    view.update(VISITS, 2_300);
    expect(lines()).toHaveLength(2);
    view.end(VISITS);

    expect(lines()).toHaveLength(22);
    expect(lines()[9]!.trimStart()).toMatch(/^10 +8 of 8 +- +- +10 █{10}$/);
    expect(written).not.toContain('\u001b');
  });
});
