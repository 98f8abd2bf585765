import { dot, HEAD_HEIGHT, line, MARGIN, svg, text } from './svg.ts';

/** Points of one thing, from left to right. */
export interface Series {
  /** Absent where another series speaks for this one. */
  readonly label?: string;
  readonly isOurs: boolean;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface LogChart {
  readonly title: string;
  readonly subtitle: string;
  readonly xTitle: string;
  /** How values are written. */
  readonly showX: (value: number) => string;
  readonly showY: (value: number) => string;
  readonly series: readonly Series[];
  readonly captions: readonly string[];
}

type Point = readonly [x: number, y: number];

const WIDTH = 960;
const HEIGHT = 400;
const LEFT = MARGIN + 60;
/** Where the lines end and their labels begin. */
const RIGHT = WIDTH - 270;
const TOP = HEAD_HEIGHT + 8;
const BOTTOM = HEAD_HEIGHT + HEIGHT - 44;
/** Between the axis and the first point, for what is written below that. */
const INSET = 30;
const LABEL_DISTANCE = 20;

/** The powers of ten from the one at or below the least value to the one at or above the most. */
export function decades(values: readonly number[]): readonly number[] {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** The places closest to those wanted that are at least a distance apart, in the same order. */
export function apart(wanted: readonly number[], distance: number): readonly number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  const places = [...wanted];
  order.forEach((index, rank) => {
    const above = rank === 0 ? -Infinity : places[order[rank - 1]!]!;
    places[index] = Math.max(wanted[index]!, above + distance);
  });
  return places;
}

const between = (ticks: readonly number[], from: number, to: number) => {
  const [first, last] = [Math.log10(ticks[0]!), Math.log10(ticks.at(-1)!)];
  return (value: number): number => from + ((Math.log10(value) - first) / (last - first)) * (to - from);
};

/** Lines on two logarithmic axes, with their names behind their ends. */
export function logChart({ title, subtitle, xTitle, showX, showY, series, captions }: LogChart): string {
  const all = series.flatMap(({ points }) => points);
  const xTicks = decades(all.map(([x]) => x));
  const yTicks = decades(all.map(([, y]) => y));
  const xOf = between(xTicks, LEFT + INSET, RIGHT);
  const yOf = between(yTicks, BOTTOM, TOP);
  const place = ([x, y]: Point): Point => [xOf(x), yOf(y)];
  const axes = [
    ...yTicks.flatMap((y) => [
      line([
        [LEFT, yOf(y)],
        [RIGHT, yOf(y)],
      ]),
      text(LEFT - 8, yOf(y) + 4, showY(y), 'muted', 'right'),
    ]),
    ...xTicks.map((x) => text(xOf(x), BOTTOM + 18, showX(x), 'muted', 'middle')),
    text((LEFT + RIGHT) / 2, BOTTOM + 38, xTitle, 'muted', 'middle'),
  ];
  const oursLast = [...series].sort((a, b) => Number(a.isOurs) - Number(b.isOurs));
  const lines = oursLast.flatMap(({ points, isOurs }) => [
    line(points.map(place), isOurs ? 'ours' : 'peer'),
    ...(isOurs
      ? points.flatMap((point, i) => marked(place(point), i === points.length - 1 ? '' : showY(point[1])))
      : []),
  ]);
  const labelled = series.filter(({ label }) => label !== undefined);
  const ends = labelled.map(({ points }) => place(points.at(-1)!));
  const labelYs = apart(
    ends.map(([, y]) => y),
    LABEL_DISTANCE,
  );
  const labels = labelled.flatMap(({ label = '', isOurs, points }, i) => [
    line([ends[i]!, [RIGHT + 8, labelYs[i]!]], 'reference'),
    text(RIGHT + 14, labelYs[i]! + 4, isOurs ? `${label}, ${showY(points.at(-1)![1])}` : label, isOurs ? 'ours' : ''),
  ]);
  const description = labelled.map(({ label, points }) => {
    const values = points.map(([x, y]) => `${showY(y)} at ${showX(x)}`);
    return `${label}: ${values.join(', ')}.`;
  });
  const content = [...axes, ...labels, ...lines];
  return svg({ title, subtitle, description: description.join(' '), width: WIDTH, height: HEIGHT, content, captions });
}

/** The value stands below the point: what costs more lies above. */
const marked = ([x, y]: Point, value: string): readonly string[] => [
  dot(x, y),
  text(x, y + 20, value, 'ours', 'middle'),
];
