import { climbed, cooled } from '../../support/warm-up-formula.ts';
import { IDLE_FOR_MS, RULE, USED_FOR_MS, type Found } from '../warm-up/measure.ts';
import { lineChart } from './line-chart.ts';

const { limit, windowMs, warmUp } = RULE;
const END_MS = USED_FOR_MS + IDLE_FOR_MS;
const LINE_STEP_MS = 100;
const X_TICKS = [0, 10, 20, 30, 40, 50, 60, 70, 80];
const Y_TICKS = [0, 15, 30, 45, 60, 75, 90];

/** The published formula. What was admitted last takes a window, and then nothing is used. */
const expected = (atMs: number): number =>
  atMs <= USED_FOR_MS
    ? climbed(limit, warmUp, atMs)
    : cooled(limit, warmUp, Math.max(0, atMs - USED_FOR_MS - windowMs));

const seconds = (ms: number): number => ms / 1_000;

/** The effective limit of the README's rule by age: what was admitted as dots, the formula as a line. */
export function warmUpChart(
  { climbing, cooling }: { readonly climbing: readonly Found[]; readonly cooling: readonly Found[] },
  server: string,
): string {
  const found = [...climbing, ...cooling];
  const ages = Array.from({ length: END_MS / LINE_STEP_MS + 1 }, (_, i) => i * LINE_STEP_MS);
  const furthest = Math.max(...found.map(({ atMs, units }) => Math.abs(units - expected(atMs))));
  const spoken = (some: readonly Found[], since: number): string =>
    some.map(({ atMs, units }) => `${units} at ${seconds(atMs - since)} s`).join(', ');
  return lineChart({
    title: `The limit by age: warmUp '${seconds(warmUp.overMs)}s' of ${limit} units a second`,
    subtitle: 'Under full demand it climbs from a third to the limit; when nobody comes, it cools.',
    description: `Under full demand: ${spoken(climbing, 0)}. After idleness: ${spoken(cooling, USED_FOR_MS)}.`,
    x: { title: 'seconds since the first request', ticks: X_TICKS },
    y: { title: 'units', ticks: Y_TICKS },
    curves: {
      label: 'the published formula of Guava',
      lines: [ages.map((ms) => [seconds(ms), expected(ms)] as const)],
    },
    dots: { label: 'admitted in one second', points: found.map(({ atMs, units }) => [seconds(atMs), units] as const) },
    phases: [
      { label: 'used up by its clients', from: 0 },
      { label: 'idle for so long, then used up at once', from: seconds(USED_FOR_MS) },
    ],
    captions: [
      `RedisStore on ${server}; time is given by the script. No dot is further than ${furthest.toFixed(1)} units from the line.`,
    ],
  });
}
