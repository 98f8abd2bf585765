import type { Paint } from './paint.ts';
import { SALE_MS } from './scenario.ts';
import { legend, timelineRows } from './timeline.ts';
import type { View } from './view.ts';
import type { Visit } from './visit.ts';

const HIDE_CURSOR = '\u001b[?25l';
export const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_TO_END_OF_LINE = '\u001b[K';

/** For terminals: one picture that grows. */
export class LiveView implements View {
  readonly #write: (text: string) => void;
  readonly #paint: Paint;
  #height = 0;

  constructor(write: (text: string) => void, paint: Paint) {
    this.#write = write;
    this.#paint = paint;
  }

  update(visits: readonly Visit[], nowMs: number): void {
    const lines = [...timelineRows(visits, nowMs, this.#paint), '', legend(this.#paint)];
    const toTop = this.#height === 0 ? HIDE_CURSOR : `\u001b[${this.#height}A\r`;
    this.#height = lines.length;
    this.#write(toTop + lines.map((line) => `${line}${CLEAR_TO_END_OF_LINE}\n`).join(''));
  }

  end(visits: readonly Visit[]): void {
    this.update(visits, SALE_MS);
  }
}
