/** Colours, where they are wanted. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

const code =
  (on: number, off: number) =>
  (text: string): string =>
    text.trim() === '' ? text : `\u001b[${on}m${text}\u001b[${off}m`;
const plain = (text: string): string => text;

export const COLOURS: Paint = { good: code(32, 39), bad: code(31, 39), faint: code(2, 22), strong: code(1, 22) };
export const PLAIN: Paint = { good: plain, bad: plain, faint: plain, strong: plain };
