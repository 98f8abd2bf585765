import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { RateLimitException } from 'nestjs-floodgate';
import { loadedCopies } from './loaded-copies.js';

/** An application whose dependencies load the library the other way than itself still has one class of each name. */
async function main(): Promise<void> {
  const required = createRequire(join(process.cwd(), 'main.js'))(
    'nestjs-floodgate',
  ) as typeof import('nestjs-floodgate');
  const imported = await import('nestjs-floodgate');
  assert.equal(required.RateLimitException, RateLimitException);
  assert.equal(imported.RateLimitException, RateLimitException);
  assert.equal(loadedCopies(), 1);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
