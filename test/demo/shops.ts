import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ShopOptions } from '../../examples/seckill/shop-options.ts';

/** The running processes of the shop. */
export interface Shops {
  readonly ports: readonly number[];
  close(): Promise<void>;
}

const STARTUP_MS = 14_000;

/** @throws Error when a process does not open in time; none is left then. */
export async function openShops(count: number, options: ShopOptions): Promise<Shops> {
  const shops = Array.from({ length: count }, () => startProcess(options));
  const close = async (): Promise<void> => {
    await Promise.all(shops.map(endProcess));
  };
  try {
    return { ports: await Promise.all(shops.map(openedAt)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** It says nothing unless it breaks. */
const startProcess = (options: ShopOptions): ChildProcess =>
  fork(fileURLToPath(new URL('./shop.ts', import.meta.url)), {
    env: { ...process.env, SHOP_OPTIONS: JSON.stringify(options) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

function openedAt(shop: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the shop did not open within ${STARTUP_MS / 1_000} s`)),
      STARTUP_MS,
    );
    shop.once('exit', (code) => reject(new Error(`the shop closed with ${code} before it opened`)));
    shop.once('message', (port) => {
      clearTimeout(timer);
      resolve(port as number);
    });
  });
}

async function endProcess(shop: ChildProcess): Promise<void> {
  if (shop.exitCode !== null || shop.signalCode !== null) return;
  const ended = once(shop, 'exit');
  if (shop.connected) shop.disconnect();
  else shop.kill();
  await ended;
}
