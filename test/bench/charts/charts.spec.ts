import { describe, expect, it } from '@jest/globals';
import { barChart } from './bar-chart.ts';
import { bytes } from './draw.ts';
import { apart, decades, logChart } from './log-chart.ts';

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
