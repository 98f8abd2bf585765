import { describe, expect, it } from '@jest/globals';
import { parsePrometheusText } from './prometheus-text.ts';

const HISTOGRAM = ['# TYPE h histogram', 'h_bucket{le="1"} 1', 'h_bucket{le="+Inf"} 2', 'h_sum 3', 'h_count 2', ''];

describe('the parser of the Prometheus text format', () => {
  it('reads names, help, types, labels and values', () => {
    const text = [
      '# HELP a_total What is counted.',
      '# TYPE a_total counter',
      'a_total{b="c",d="quoted \\"e\\", \\\\ and\\nline, {x}"} 1.5e3',
      'a_total{b="other"} 2 1700000000000',
      '',
      '# a comment',
      '# TYPE g gauge',
      'g -Inf',
      '',
    ].join('\n');
    expect([...parsePrometheusText(text).values()]).toEqual([
      {
        name: 'a_total',
        help: 'What is counted.',
        type: 'counter',
        samples: [
          { name: 'a_total', labels: { b: 'c', d: 'quoted "e", \\ and\nline, {x}' }, value: 1500 },
          { name: 'a_total', labels: { b: 'other' }, value: 2 },
        ],
      },
      { name: 'g', help: '', type: 'gauge', samples: [{ name: 'g', labels: {}, value: -Infinity }] },
    ]);
  });

  it('reads histograms', () => {
    expect(parsePrometheusText(HISTOGRAM.join('\n')).get('h')?.samples).toHaveLength(4);
  });

  it.each([
    ['a last line that does not end', '# TYPE a gauge\na 1', 'the last line does not end'],
    ['a sample without a type', 'a 1\n', 'a sample outside its family'],
    ['a type that is none', '# TYPE a number\na 1\n', 'no type'],
    ['two types', '# TYPE a gauge\n# TYPE a gauge\na 1\n', 'a second TYPE'],
    ['a family in two parts', '# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na{c="d"} 1\n', 'a sample outside its family'],
    ['a sample of another family', '# TYPE a gauge\nb 1\n', 'a sample outside its family'],
    ['a value that is no number', '# TYPE a gauge\na x\n', 'no number'],
    ['a value that is a hexadecimal number', '# TYPE a gauge\na 0x10\n', 'no number'],
    ['no value', '# TYPE a gauge\na\n', 'no sample'],
    ['labels without quotes', '# TYPE a gauge\na{b=c} 1\n', 'no labels'],
    ['a label that is not closed', '# TYPE a gauge\na{b="c} 1\n', 'no labels'],
    ['a quote in a label', '# TYPE a gauge\na{b="c"d"} 1\n', 'no labels'],
    ['an escape that is none', '# TYPE a gauge\na{b="\\t"} 1\n', 'no labels'],
    ['a label name that is none', '# TYPE a gauge\na{b.c="d"} 1\n', 'no labels'],
    ['a label told twice', '# TYPE a gauge\na{b="c",b="d"} 1\n', 'a label told twice'],
    ['a sample told twice', '# TYPE a gauge\na{b="c",d="e"} 1\na{d="e",b="c"} 1\n', 'a sample told twice'],
    ['a counter below 0', '# TYPE a counter\na -1\n', 'a counts below 0'],
    ['a histogram that falls', HISTOGRAM.join('\n').replace('le="1"} 1', 'le="1"} 3'), 'h is no histogram'],
    ['a histogram without its sum', HISTOGRAM.join('\n').replace('h_sum 3\n', ''), 'h is no histogram'],
    [
      'a histogram whose count is not that of its last bucket',
      HISTOGRAM.join('\n').replace('h_count 2', 'h_count 1'),
      'h is no histogram',
    ],
    ['a histogram without a last bucket', HISTOGRAM.join('\n').replace('+Inf', '2'), 'h is no histogram'],
  ])('refuses %s', (_, text, message) => {
    expect(() => parsePrometheusText(text)).toThrow(message);
  });
});
