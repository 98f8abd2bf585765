import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArguments, USAGE } from './arguments.ts';
import { LineView } from './line-view.ts';
import { LiveView, SHOW_CURSOR } from './live-view.ts';
import { COLOURS, PLAIN, type Paint } from './paint.ts';
import { redisFault } from './redis-fault.ts';
import { report } from './report.ts';
import { Sale } from './sale.ts';
import { ShopClient } from './shop-client.ts';
import { openShops, type Shops } from './shops.ts';
import type { View } from './view.ts';

const LONGEST_RUN_MS = 39_000;
const FRAME_MS = 100;
const LIVE_COLUMNS = 80;

const { stdout, stderr, env } = process;
const isTerminal = stdout.isTTY && env.TERM !== 'dumb';
const paint: Paint = isTerminal && !env.NO_COLOR ? COLOURS : PLAIN;
const print = (text: string): void => void stdout.write(text);
const stop = (status: number, reason: string): void => {
  stderr.write(`\n${reason}\n`);
  process.exit(status);
};

/** @returns the exit status */
async function demo(args: readonly string[]): Promise<number> {
  const known = readArguments(args);
  if (!known || known.help) {
    (known ? stdout : stderr).write(USAGE);
    return known ? 0 : 2;
  }
  const { redis } = known;
  const fault = redis === undefined ? undefined : await redisFault(redis);
  if (fault !== undefined) {
    stderr.write(`The Redis at ${redis} cannot be used: ${fault}\n`);
    return 1;
  }
  print(`\n${paint.strong('Floodgate: a flash sale over HTTP')}\n`);
  print(redis === undefined ? 'One shop process on the embedded store.\n' : 'Two shop processes on one Redis.\n');
  print('In any 10 s: at most 10 orders, 3 of them by one customer, and 5 log-ins from one address.\n\n');
  const shops = await openShops(redis === undefined ? 1 : 2, {
    redis,
    keyPrefix: `floodgate-demo-${randomBytes(4).toString('hex')}`,
    tokenSecret: randomBytes(32).toString('hex'),
    stock: { '1': 1_000 },
  });
  try {
    return (await watchSale(shops)) ? 0 : 1;
  } finally {
    await shops.close();
  }
}

/** @returns whether the promise held */
async function watchSale({ ports }: Shops): Promise<boolean> {
  const client = new ShopClient(ports);
  const sale = new Sale(client);
  const view: View = isTerminal && stdout.columns >= LIVE_COLUMNS ? new LiveView(print, paint) : new LineView(print);
  const over = sale.play().then(() => true);
  while (!(await Promise.race([over, sleep(FRAME_MS, false)]))) view.update(sale.visits, sale.now);
  view.end(sale.visits);
  client.close();

  const { lines, held } = report(sale.visits, paint);
  print(`\n${lines.join('\n')}\n`);
  return held;
}

// The processes of the shop end with this one, however it ends.
process.once('SIGINT', () => stop(130, 'Stopped.'));
process.once('SIGTERM', () => stop(143, 'Stopped.'));
setTimeout(() => stop(1, `The demo did not end within ${LONGEST_RUN_MS / 1_000} s.`), LONGEST_RUN_MS).unref();
if (isTerminal) process.once('exit', () => print(SHOW_CURSOR));

try {
  process.exitCode = await demo(process.argv.slice(2));
} catch (error) {
  stop(1, `The demo failed: ${(error as Error).message}`);
}
