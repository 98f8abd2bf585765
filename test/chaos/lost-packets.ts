import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { startChild, type Child } from '../support/child.ts';

/** More than the queue of such a port holds. */
const FILLERS = 8;

/** A port that answers no attempt to connect, as where a firewall drops the packets. */
export interface LostPackets {
  end(): Promise<void>;
}

export async function losePacketsTo(port: number): Promise<LostPackets> {
  const child: Child = await startChild(new URL('lost-packets.ts', import.meta.url), { FULL_PORT: String(port) });
  const fillers = Array.from({ length: FILLERS }, (): Socket => connect(port, '127.0.0.1'));
  for (const filler of fillers) filler.on('error', () => undefined);
  return {
    async end() {
      for (const filler of fillers) filler.destroy();
      await child.stop();
    },
  };
}

const { FULL_PORT } = process.env;
if (FULL_PORT) {
  await once(createServer().listen(Number(FULL_PORT), '127.0.0.1', 1), 'listening');
  process.send!('ready', () => {
    // Who never looks accepts nobody.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}
