import { bar, HEAD_HEIGHT, line, MARGIN, svg, text } from './svg.ts';

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly isOurs: boolean;
}

/** Bars that are compared with each other. */
interface Panel {
  readonly heading: string;
  readonly bars: readonly Bar[];
}

export interface BarChart {
  readonly title: string;
  /** What a bar of length 1 is, at which each panel has a line. */
  readonly one: string;
  readonly panels: readonly Panel[];
  /** Panels beside each other. */
  readonly columns: number;
  readonly captions: readonly string[];
}

const WIDTH = 960;
const GAP = 28;
const LABEL_WIDTH = 246;
/** For the values, below each other at the right. */
const VALUE_WIDTH = 46;
const ROW = 25;
const BAR_HEIGHT = 15;
const PANEL_HEAD = 34;
const PANEL_FOOT = 30;

const shown = (value: number): string => value.toFixed(value < 9.95 ? 2 : 1);
const byValue = (bars: readonly Bar[]): readonly Bar[] => [...bars].sort((a, b) => b.value - a.value);

/** Horizontal bars, the longest first. */
export function barChart({ title, one, panels, columns, captions }: BarChart): string {
  const panelWidth = (WIDTH - 2 * MARGIN - (columns - 1) * GAP) / columns;
  const rows = Math.max(...panels.map(({ bars }) => bars.length));
  const panelHeight = PANEL_HEAD + rows * ROW + PANEL_FOOT;
  const content = panels.flatMap((panel, i) => {
    const left = MARGIN + (i % columns) * (panelWidth + GAP);
    const top = HEAD_HEIGHT + Math.floor(i / columns) * panelHeight;
    return panelAt(left, top, panelWidth, panel);
  });
  const description = panels.map(({ heading, bars }) => {
    const values = byValue(bars).map(({ label, value }) => `${label} ${shown(value)}`);
    return `${heading}: ${values.join('; ')}.`;
  });
  const height = Math.ceil(panels.length / columns) * panelHeight;
  const subtitle = `Longer is better; 1 is ${one}.`;
  const spoken = `${subtitle} ${description.join(' ')}`;
  return svg({ title, subtitle, description: spoken, width: WIDTH, height, content, captions });
}

function panelAt(left: number, top: number, width: number, { heading, bars }: Panel): readonly string[] {
  const barsLeft = left + LABEL_WIDTH;
  const right = left + width;
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const scale = (width - LABEL_WIDTH - VALUE_WIDTH) / most;
  const rows = byValue(bars).flatMap(({ label, value, isOurs }, i) => {
    const y = top + PANEL_HEAD + i * ROW;
    const baseline = y + BAR_HEIGHT - 3;
    const emphasis = isOurs ? 'ours' : '';
    return [
      text(barsLeft - 10, baseline, label, emphasis, 'right'),
      bar(barsLeft, y, value * scale, BAR_HEIGHT, emphasis),
      text(right, baseline, shown(value), emphasis, 'right'),
    ];
  });
  const bottom = top + PANEL_HEAD + bars.length * ROW;
  const atOne = barsLeft + scale;
  return [
    text(left, top + 16, heading, 'heading'),
    ...rows,
    line(
      [
        [atOne, top + PANEL_HEAD - 6],
        [atOne, bottom],
      ],
      'reference',
    ),
    text(atOne, bottom + 14, '1', 'muted', 'middle'),
  ];
}
