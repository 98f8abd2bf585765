import { describe, expect, it } from '@jest/globals';
import { barChart } from './bar-chart.ts';
import { bytes } from './draw.ts';
import { lineChart } from './line-chart.ts';
import { apart, decades, logChart } from './log-chart.ts';
import { warmUpChart } from './warm-up-chart.ts';

describe('a bar chart', () => {
  const chart = barChart({
    title: 'Speed <of all>',
    one: 'nothing',
    panels: [
      {
        heading: 'fast',
        bars: [
          { label: 'slow & old', value: 0.5, isOurs: false },
          { label: 'ours', value: 2, isOurs: true },
        ],
      },
    ],
    columns: 1,
    captions: ['somewhere'],
  });

  it('sets the longest bar first, and ours apart', () => {
    expect(
      [...chart.matchAll(/<rect [^>]*?width="([\d.]+)"[^>]*?( class="ours")?\/>/g)].map(([, w, o]) => [w, o]),
    ).toEqual([
      [expect.anything(), ' class="ours"'],
      [expect.anything(), undefined],
    ]);
    expect(chart.indexOf('>ours<')).toBeLessThan(chart.indexOf('>slow &amp; old<'));
  });

  it('says its values in words, and escapes what people wrote', () => {
    expect(chart).toContain('<title id="title">Speed &lt;of all&gt;</title>');
    expect(chart).toContain('fast: ours 2.00; slow &amp; old 0.50.');
  });
});

describe('a chart with logarithmic axes', () => {
  it('has a line at each power of ten around the values', () => {
    expect(decades([56, 2_000])).toEqual([10, 100, 1_000, 10_000]);
    expect(decades([10, 1_000])).toEqual([10, 100, 1_000]);
    expect(decades([10])).toEqual([10, 100]);
  });

  it('moves labels apart that would lie on each other, in their order', () => {
    expect(apart([30, 10, 12], 5)).toEqual([30, 10, 15]);
  });

  it('sets points of equal factors at equal distances', () => {
    const chart = logChart({
      title: 'Size',
      subtitle: '',
      xTitle: 'limit',
      showX: String,
      showY: bytes,
      series: [
        {
          label: 'ours',
          isOurs: true,
          points: [
            [10, 10],
            [100, 100],
            [1_000, 1_000],
          ],
        },
      ],
      captions: [],
    });
    const xs = [...chart.matchAll(/<circle cx="([\d.]+)"/g)].map(([, x]) => Number(x));
    expect(xs).toHaveLength(3);
    expect(xs[2]! - xs[1]!).toBeCloseTo(xs[1]! - xs[0]!);
  });
});

describe('a chart of lines and dots', () => {
  const chart = lineChart({
    title: 'Growth',
    subtitle: '',
    description: 'It <grows>.',
    x: { title: 'seconds', ticks: [0, 10] },
    y: { title: 'units', ticks: [0, 50, 100] },
    curves: {
      label: 'expected',
      lines: [
        [
          [0, 0],
          [10, 100],
        ],
      ],
    },
    dots: { label: 'found', points: [0, 5, 10].map((x) => [x, 10 * x] as const) },
    phases: [
      { label: 'early', from: 0 },
      { label: 'late', from: 5 },
    ],
    captions: [],
  });
  const points = [...chart.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);

  it('sets what was found on the line of what is expected, where they are equal', () => {
    const [first, middle, last] = points as [number[], number[], number[]];
    expect(chart).toContain(`<path d="M${first.join(',')}L${last.join(',')}" class="peer"/>`);
    expect(middle).toEqual([(first[0]! + last[0]!) / 2, (first[1]! + last[1]!) / 2]);
  });

  it('parts its phases, and says in words what it shows', () => {
    expect(chart.match(/class="reference"/g)).toHaveLength(1);
    expect(chart).toContain(`<path d="M${points[1]![0]},`);
    for (const text of ['early', 'late', 'expected', 'found', 'It &lt;grows&gt;.']) expect(chart).toContain(text);
  });
});

it('the chart of a warm-up says how far what was found is from the formula', () => {
  const chart = warmUpChart({ climbing: [{ atMs: 0, units: 32 }], cooling: [{ atMs: 79_000, units: 30 }] }, 'Redis 1');
  expect(chart).toContain('No dot is further than 2.0 units from the line.');
  expect(chart).toContain('Under full demand: 32 at 0 s. After idleness: 30 at 33 s.');
});

describe('a size', () => {
  it.each([
    [56, '56 B'],
    [496, '496 B'],
    [1_000, '1 kB'],
    [2_176, '2.2 kB'],
    [101_928, '102 kB'],
    [1_129_768, '1.1 MB'],
  ])('of %d bytes is %s', (value, text) => {
    expect(bytes(value)).toBe(text);
  });
});
