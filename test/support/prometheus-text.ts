/**
 * The text format of Prometheus (version 0.0.4), read strictly: what the format does not allow is an error. Written out,
 * since the parsers on npm let pass what must not: parse-prometheus-text-format 1.1.1 reads a label without its closing
 * quote as no label, and takes a value that is no number, a sample told twice, a label told twice and a second TYPE.
 */

export interface Sample {
  /** With its ending: `_bucket`, `_sum` and `_count` in a histogram. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface OpenFamily extends Family {
  readonly samples: Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.*)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([^ ]+)(?: (-?\\d+))?$`);
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\[\\"n])*)"(,|$)/y;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|NaN|[+-]?Inf)$/;
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/** @throws Error that names the line */
export function parsePrometheusText(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, OpenFamily>();
  const seen = new Set<string>();
  let help: { readonly name: string; readonly text: string } | undefined;
  let family: OpenFamily | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const fault = (reason: string): Error => new Error(`${reason}: ${line}`);
    const [, keyword, name = '', rest = ''] = COMMENT.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) throw fault('a HELP after its family has begun, or for the second time');
      help = { name, text: rest };
    } else if (keyword === 'TYPE') {
      if (families.has(name)) throw fault('a second TYPE, or a family in two parts');
      if (!TYPES.includes(rest)) throw fault('no type');
      family = { name, type: rest, help: help?.name === name ? help.text : '', samples: [] };
      families.set(name, family);
    } else if (line !== '' && !line.startsWith('#')) {
      const sample = sampleOf(line, fault);
      const allowed = (ENDINGS[family?.type ?? ''] ?? ['']).map((ending) => `${family?.name}${ending}`);
      if (!family || !allowed.includes(sample.name)) throw fault('a sample outside its family');
      const identity = `${sample.name} ${keyOf(sample.labels)}`;
      if (seen.has(identity)) throw fault('a sample told twice');
      seen.add(identity);
      family.samples.push(sample);
    }
  }
  for (const each of families.values()) checkFamily(each);
  return families;
}

/** The same for the same labels, in whatever order. */
const keyOf = (labels: Sample['labels']): string =>
  JSON.stringify(
    Object.keys(labels)
      .sort(byCharacters)
      .map((name) => [name, labels[name]]),
  );

const byCharacters = (a: string, b: string): number => (a < b ? -1 : 1);

function sampleOf(line: string, fault: (reason: string) => Error): Sample {
  const [, name, labels, value = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw fault('no sample');
  if (!NUMBER.test(value)) throw fault('no number');
  return { name, labels: labelsOf(labels ?? '', fault), value: Number(value.replace('Inf', 'Infinity')) };
}

function labelsOf(text: string, fault: (reason: string) => Error): Sample['labels'] {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name, value] = LABEL.exec(text) ?? [];
    if (name === undefined || value === undefined) throw fault('no labels');
    if (name in labels) throw fault('a label told twice');
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

function checkFamily({ name, type, samples }: Family): void {
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} counts below 0`);
  if (type !== 'histogram') return;
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = keyOf(labels);
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const each of series.values()) checkHistogram(name, each);
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const buckets = samples
    .filter((sample) => sample.name === `${name}_bucket`)
    .map(({ labels, value }) => ({ le: Number(labels['le']?.replace('Inf', 'Infinity')), value }))
    .sort((a, b) => a.le - b.le);
  const count = samples.find((sample) => sample.name === `${name}_count`)?.value;
  const isRising = buckets.every(({ value }, i) => i === 0 || value >= buckets[i - 1]!.value);
  const hasSum = samples.some((sample) => sample.name === `${name}_sum`);
  if (!isRising || !hasSum || buckets.at(-1)?.le !== Infinity || buckets.at(-1)?.value !== count) {
    throw new Error(`${name} is no histogram`);
  }
}
