import type { Scenario, Site } from './scenario.ts';

/** The cause is something done again and again, one after another. */
export function repeatedly<S extends Site>(
  everyMs: number,
  act: (site: S) => Promise<unknown>,
): Pick<Scenario<S>, 'begin' | 'end'> {
  const acts = new WeakMap<S, { timer: NodeJS.Timeout; last: Promise<unknown> }>();
  return {
    async begin(site) {
      const again = (): void => {
        state.last = state.last.then(() => act(site));
      };
      const state = { timer: setInterval(again, everyMs), last: act(site) };
      acts.set(site, state);
    },
    async end(site) {
      const { timer, last } = acts.get(site)!;
      clearInterval(timer);
      await last;
    },
  };
}
