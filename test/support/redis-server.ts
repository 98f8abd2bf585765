import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A Redis server of the tests' own. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Lets the server stall without closing its connections. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  // The bus of a cluster node takes the port 10,000 above.
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    if (port < 55_000) return port;
  }
}

/**
 * The `redis-server` of this machine: the one on the path, or Debian's package, which root may install.
 * @throws Error that says what to do where there is neither
 */
export function redisServerBinary(): string {
  const found = (): boolean => spawnedQuietly('redis-server', ['--version']);
  if (found()) return 'redis-server';
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], options);
    if (found()) return 'redis-server';
  }
  throw new Error(
    'The tests need a real Redis: start Docker, or install redis-server (Debian: apt-get install redis-server), ' +
      'or set TEST_REDIS_URL.',
  );
}

function spawnedQuietly(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Without persistence, on a free port of the loopback interface. `port` starts one where another one was. */
export async function startRedisServer({
  args = [],
  port,
}: { args?: readonly string[]; port?: number } = {}): Promise<RedisServer> {
  const chosen = port ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), 'floodgate-redis-'));
  const fixed = ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const child = spawn(redisServerBinary(), [...fixed, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    let log = '';
    child.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('Ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${log}`)));
  });
  return {
    port: chosen,
    url: `redis://127.0.0.1:${chosen}`,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
