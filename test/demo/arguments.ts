import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run demo
       npm run demo -- --redis redis://localhost:6379

A flash sale over HTTP, with its limits in the process of the shop,
or with two processes of the shop that share a Redis.
`;

export interface Arguments {
  /** URL; absent for the embedded store. */
  readonly redis?: string;
  readonly help?: boolean;
}

/** Undefined for arguments that the demo does not know. */
export function readArguments(args: readonly string[]): Arguments | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { redis: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    return values.redis === undefined || /^rediss?:\/\/./.test(values.redis) ? values : undefined;
  } catch {
    return undefined;
  }
}
