import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

const TURNS = 50;

/** How often something connects to a Redis that there is not, while this runs and right after it. */
export async function connectionsDuring(run: (url: string) => Promise<unknown>): Promise<number> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await run(`redis://127.0.0.1:${port}`);
  for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
  // Connections are accepted in their order: those that were begun before this one are counted by then.
  const last = connect(port, '127.0.0.1');
  last.on('error', () => undefined);
  await once(last, 'close');
  server.close();
  await once(server, 'close');
  return connections - 1;
}
