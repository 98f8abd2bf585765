import { dot, HEAD_HEIGHT, line, MARGIN, svg, text } from './svg.ts';

type Point = readonly [x: number, y: number];

interface Axis {
  readonly title: string;
  /** From the first to the last, in this order. */
  readonly ticks: readonly number[];
}

export interface LineChart {
  readonly title: string;
  readonly subtitle: string;
  /** What it says, in words. */
  readonly description: string;
  readonly x: Axis;
  readonly y: Axis;
  /** What is expected: a line each, of one name. */
  readonly curves: { readonly label: string; readonly lines: readonly (readonly Point[])[] };
  /** What was found. */
  readonly dots: { readonly label: string; readonly points: readonly Point[] };
  /** Parts of the x axis, each from its moment to the next one's. */
  readonly phases: readonly { readonly label: string; readonly from: number }[];
  readonly captions: readonly string[];
}

const WIDTH = 960;
const HEIGHT = 380;
const LEFT = MARGIN + 48;
const RIGHT = WIDTH - MARGIN - 12;
const TOP = HEAD_HEIGHT + 46;
const BOTTOM = HEAD_HEIGHT + HEIGHT - 44;
const LEGEND_Y = HEAD_HEIGHT + 8;
const LEGEND_WIDTH = 300;

const between = ({ ticks }: Axis, from: number, to: number) => {
  const [first, last] = [ticks[0]!, ticks.at(-1)!];
  return (value: number): number => from + ((value - first) / (last - first)) * (to - from);
};

/** Lines of what is expected, and dots of what was found, on two linear axes. */
export function lineChart(chart: LineChart): string {
  const { title, subtitle, description, x, y, curves, dots, phases, captions } = chart;
  const [xOf, yOf] = [between(x, LEFT, RIGHT), between(y, BOTTOM, TOP)];
  const place = ([atX, atY]: Point): Point => [xOf(atX), yOf(atY)];
  const axes = [
    ...y.ticks.flatMap((tick) => [
      line([
        [LEFT, yOf(tick)],
        [RIGHT, yOf(tick)],
      ]),
      text(LEFT - 8, yOf(tick) + 4, String(tick), 'muted', 'right'),
    ]),
    ...x.ticks.map((tick) => text(xOf(tick), BOTTOM + 18, String(tick), 'muted', 'middle')),
    text((LEFT + RIGHT) / 2, BOTTOM + 38, x.title, 'muted', 'middle'),
    text(MARGIN, TOP - 14, y.title, 'muted'),
  ];
  const borders = phases.flatMap(({ label, from }, i) => {
    const to = phases[i + 1]?.from ?? x.ticks.at(-1)!;
    const border: readonly Point[] = [
      [xOf(from), TOP - 6],
      [xOf(from), BOTTOM],
    ];
    return [...(i > 0 ? [line(border, 'reference')] : []), text(xOf((from + to) / 2), TOP - 14, label, '', 'middle')];
  });
  const legend = [
    dot(RIGHT - 2 * LEGEND_WIDTH, LEGEND_Y - 4),
    text(RIGHT - 2 * LEGEND_WIDTH + 12, LEGEND_Y, dots.label, 'ours'),
    line(
      [
        [RIGHT - LEGEND_WIDTH, LEGEND_Y - 4],
        [RIGHT - LEGEND_WIDTH + 24, LEGEND_Y - 4],
      ],
      'peer',
    ),
    text(RIGHT - LEGEND_WIDTH + 32, LEGEND_Y, curves.label),
  ];
  const content = [
    ...axes,
    ...borders,
    ...curves.lines.map((points) => line(points.map(place), 'peer')),
    ...dots.points.map((point) => dot(...place(point))),
    ...legend,
  ];
  return svg({ title, subtitle, description, width: WIDTH, height: HEIGHT, content, captions });
}
