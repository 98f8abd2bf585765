import { answers, EXPECTED } from './limited-app.js';
import { loadedCopies } from './loaded-copies.js';

declare const test: (name: string, run: () => Promise<void>, timeoutMs?: number) => void;
declare const expect: (value: unknown) => { toEqual(expected: unknown): void };

test('limits a route', async () => {
  for (const answer of Object.values(await answers())) expect(answer).toEqual(EXPECTED);
  expect(loadedCopies()).toEqual(1);
}, 30_000);
