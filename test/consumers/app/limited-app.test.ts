import { answers, EXPECTED } from './limited-app.js';

declare const test: (name: string, run: () => Promise<void>, timeoutMs?: number) => void;
declare const expect: (value: unknown) => { toEqual(expected: unknown): void };

test('limits a route', async () => {
  for (const answer of Object.values(await answers())) expect(answer).toEqual(EXPECTED);
}, 30_000);
