import { once } from 'node:events';
import { connect } from 'node:net';

const PATIENCE_MS = 5_000;
const REMEDY = 'start Docker, or set DOCKER_HOST to where an engine runs; nothing was tested.';

/** Why no container can be started here, in one sentence; undefined where a Docker engine answers. */
export async function engineFault(): Promise<string | undefined> {
  const host = process.env.DOCKER_HOST;
  const refusal = host && (await refusalOf(host));
  // Testcontainers would go on to other engines than the one that is asked for.
  if (refusal) return `No Docker engine answers at DOCKER_HOST=${host} (${refusal}): ${REMEDY}`;
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
    return undefined;
  } catch {
    const places = `${host ? `DOCKER_HOST=${host}` : 'DOCKER_HOST (not set)'}, /var/run/docker.sock`;
    return `No Docker engine answers (tried ${places} and the sockets of rootless engines): ${REMEDY}`;
  }
}

/** Why nothing takes connections at `tcp://host:port` or `unix:///path`; undefined where something does. */
async function refusalOf(host: string): Promise<string | undefined> {
  try {
    const { hostname, port, pathname } = new URL(host);
    const socket = hostname ? connect({ host: hostname, port: Number(port) }) : connect(pathname);
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) });
    } finally {
      socket.destroy();
    }
    return undefined;
  } catch (error) {
    return (error as Error).name === 'AbortError' ? `silent for ${PATIENCE_MS} ms` : (error as Error).message;
  }
}
