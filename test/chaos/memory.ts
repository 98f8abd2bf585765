import { setTimeout as wait } from 'node:timers/promises';
import { startChild, type Child } from '../support/child.ts';
import { startRedisServer } from '../support/redis-server.ts';
import type { Report } from './routes.ts';
import { begin, end, startApplication } from './trial.ts';

/** What code that is compiled on the way, and the records of its profile, may take. */
export const MOST_GROWTH_BYTES = 2 * 1_048_576;
/** The window of the rule for addresses. */
const TRACKED_MS = 10_000;

/** Bytes that are in use after a garbage collection. */
interface HeapOverOutage {
  /** After a fifth of the outage, when all code has run and as many addresses are tracked as ever will be. */
  readonly early: number;
  readonly late: number;
}

/** How the heap of an application does in an outage in which every call comes from an address of its own. */
export async function heapOverOutage(lastsMs: number): Promise<HeapOverOutage> {
  const server = await startRedisServer();
  const children: Child[] = [];
  try {
    const visitors = await startChild(new URL('load.ts', import.meta.url));
    children.push(visitors);
    const application = await startApplication(server.url, 'express');
    children.push(application);
    const report = (): Promise<Report> => application.ask<Report>('report');
    const { url } = await report();
    await server.kill();
    await begin(visitors, { url, connections: 50, callsPerSecond: 200, together: 1, paths: ['/address'] });
    const settlingMs = Math.max(lastsMs / 5, TRACKED_MS);
    await wait(settlingMs);
    const early = (await report()).heapBytes;
    await wait(lastsMs - settlingMs);
    const late = (await report()).heapBytes;
    await end(visitors);
    return { early, late };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await server.stop();
  }
}
