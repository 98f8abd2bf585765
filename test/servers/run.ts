/**
 * Runs the tests of the shared server on other servers, each in a container of the Docker engine that this needs.
 * Usage: npm run test:servers [-- text that the images contain]. Exit status 1 when one fails or none was tested.
 *
 * The tests of the shared server are the files that call `useRedis`, in whatever folder. All others (without a server,
 * or on a cluster, with TLS or with ACLs, which they start themselves) run the same for every image. What those files
 * start besides, for a crash or a full store, is still the `redis-server` on the path.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisContainer } from '../support/redis-container.ts';
import { engineFault } from './engine.ts';

const IMAGES = ['redis:6.2', 'redis:7.4', 'redis:8', 'valkey/valkey:8'];
const TIMEOUT_MS = 600_000;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Relative to the root. */
const testsOfTheSharedServer = (): readonly string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', file))
    .filter((file) => file.endsWith('.spec.ts') && readFileSync(join(root, file), 'utf8').includes('useRedis('));

/** @throws Error with the output of the tests in `message` when one fails */
function runTests(redisUrl: string): void {
  const args = ['test', '--', '--runTestsByPath', ...testsOfTheSharedServer()];
  const env = { ...process.env, TEST_REDIS_URL: redisUrl };
  const limits = { timeout: TIMEOUT_MS, maxBuffer: Infinity };
  try {
    execFileSync('npm', args, { cwd: root, env, stdio: 'pipe', encoding: 'utf8', ...limits });
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** @throws Error that says what went wrong */
async function tryOut(image: string): Promise<void> {
  const server = await startRedisContainer(image);
  try {
    runTests(server.url);
  } finally {
    await server.stop();
  }
}

/** Whether all passed. */
async function tryOutAll(images: readonly string[]): Promise<boolean> {
  let failed = 0;
  for (const image of images) {
    try {
      await tryOut(image);
      console.log(`pass  ${image}`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${image}\n${(error as Error).message}`);
    }
  }
  console.log(`${images.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

const [wanted = ''] = process.argv.slice(2);
const chosen = IMAGES.filter((image) => image.includes(wanted));
const obstacle =
  chosen.length === 0
    ? `No image contains '${wanted}': ${IMAGES.join(', ')}; nothing was tested.`
    : await engineFault();
if (obstacle) console.error(obstacle);
process.exitCode = !obstacle && (await tryOutAll(chosen)) ? 0 : 1;
