/** An image that is readable on light and dark backgrounds, and by those who hear it. */
export interface Picture {
  readonly title: string;
  /** How to read it. */
  readonly subtitle: string;
  /** What it says, in words. */
  readonly description: string;
  readonly width: number;
  readonly height: number;
  /** Elements, by the functions below. */
  readonly content: readonly string[];
  /** Below the content, a line each: what was measured, where and when. */
  readonly captions: readonly string[];
}

export const MARGIN = 16;
/** From the top to where content begins. */
export const HEAD_HEIGHT = 62;
const CAPTION_LINE = 17;

interface Palette {
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly peer: string;
  readonly ours: string;
}

const ON_LIGHT: Palette = { ink: '#1f2328', muted: '#59636e', line: '#d1d9e0', peer: '#afb8c1', ours: '#0969da' };
const ON_DARK: Palette = { ink: '#e6edf3', muted: '#9198a1', line: '#3d444d', peer: '#656c76', ours: '#4493f8' };

/** Plain declarations: not everything that draws SVG knows variables. */
const coloured = ({ ink, muted, line: lines, peer, ours }: Palette): string => `
  text { fill: ${ink} }
  .muted { fill: ${muted} }
  rect { fill: ${peer} }
  text.ours, rect.ours, circle { fill: ${ours} }
  path { stroke: ${lines} }
  path.reference { stroke: ${muted} }
  path.peer { stroke: ${peer} }
  path.ours { stroke: ${ours} }`;

const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif }
  .title { font-size: 17px; font-weight: 600 }
  .heading, text.ours { font-weight: 600 }
  .muted { font-size: 12px }
  .right { text-anchor: end }
  .middle { text-anchor: middle }
  path { fill: none }
  path.reference { stroke-dasharray: 4 3 }
  path.peer { stroke-width: 2 }
  path.ours { stroke-width: 3 }
${coloured(ON_LIGHT)}
  @media (prefers-color-scheme: dark) {${coloured(ON_DARK)}
  }
`;

/** What the style sheet speaks of. */
type Class = 'title' | 'heading' | 'muted' | 'ours' | 'right' | 'middle' | 'reference' | 'peer' | '';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Tenths of a pixel are enough. */
const px = (value: number): string => String(Math.round(value * 10) / 10);

const classed = (classes: readonly Class[]): string => {
  const given = classes.filter((name) => name !== '');
  return given.length > 0 ? ` class="${given.join(' ')}"` : '';
};

/** @param y of the line that the letters stand on */
export const text = (x: number, y: number, content: string, ...classes: Class[]): string =>
  `<text x="${px(x)}" y="${px(y)}"${classed(classes)}>${escaped(content)}</text>`;

export const bar = (x: number, y: number, width: number, height: number, ...classes: Class[]): string =>
  `<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" rx="2"${classed(classes)}/>`;

export const dot = (x: number, y: number): string => `<circle cx="${px(x)}" cy="${px(y)}" r="4"/>`;

/** Through all of the points. */
export const line = (points: readonly (readonly [x: number, y: number])[], ...classes: Class[]): string =>
  `<path d="M${points.map(([x, y]) => `${px(x)},${px(y)}`).join('L')}"${classed(classes)}/>`;

export function svg({ title, subtitle, description, width, height, content, captions }: Picture): string {
  const captionTop = HEAD_HEIGHT + height + CAPTION_LINE;
  const whole = captionTop + captions.length * CAPTION_LINE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description)}</desc>`,
    `<style>${STYLE}</style>`,
    text(MARGIN, 27, title, 'title'),
    text(MARGIN, 47, subtitle, 'muted'),
    ...content,
    ...captions.map((caption, i) => text(MARGIN, captionTop + i * CAPTION_LINE, caption, 'muted')),
    '</svg>',
    '',
  ].join('\n');
}
