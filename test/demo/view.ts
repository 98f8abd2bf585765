import type { Visit } from './visit.ts';

/** Shows the sale while it runs. */
export interface View {
  update(visits: readonly Visit[], nowMs: number): void;
  /** Shows the end of it and leaves the terminal as it was. */
  end(visits: readonly Visit[]): void;
}
