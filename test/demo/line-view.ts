import { SALE_MS } from './scenario.ts';
import { ordersInWindow, PARTIES } from './timeline.ts';
import type { View } from './view.ts';
import { isAdmitted, type Visit } from './visit.ts';

const LINE_MS = 1_000;
/** Answers to the last requests of a second come a little later. */
const GRACE_MS = 200;
const COLUMN_WIDTH = 15;

/** For pipes and logs: a line for each second, when it is over. */
export class LineView implements View {
  readonly #write: (text: string) => void;
  #linesDone = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
    this.#row('second', [...PARTIES.map(({ title }) => title), 'orders admitted in the last 10 s']);
  }

  update(visits: readonly Visit[], nowMs: number): void {
    const linesDue = Math.floor((Math.min(nowMs, SALE_MS + GRACE_MS) - GRACE_MS) / LINE_MS);
    while (this.#linesDone < linesDue) this.#line(visits, this.#linesDone++);
  }

  end(visits: readonly Visit[]): void {
    this.update(visits, Infinity);
  }

  #line(visits: readonly Visit[], second: number): void {
    const parties = PARTIES.map(({ party }) => {
      const own = visits.filter(({ by, answeredAt }) => by === party && Math.floor(answeredAt / LINE_MS) === second);
      return own.length === 0 ? '-' : `${own.filter(isAdmitted).length} of ${own.length}`;
    });
    const inWindow = ordersInWindow(visits, (second + 1) * LINE_MS);
    this.#row(`${second + 1}`, [...parties, `${String(inWindow).padStart(2)} ${'█'.repeat(inWindow)}`]);
  }

  #row(second: string, columns: readonly string[]): void {
    const cells = columns.map((column) => column.padEnd(COLUMN_WIDTH));
    this.#write(`  ${second.padStart(6)}   ${cells.join('').trimEnd()}\n`);
  }
}
