import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A Redis server of the tests' own. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Of the process that runs, or that ran last. */
  readonly pid: number;
  /** Lets the server stall without closing its connections. */
  pause(): void;
  resume(): void;
  /** Ends the process as a crash does, paused or not; `restart` can follow. */
  kill(): Promise<void>;
  /** Starts it where it was, as it was started: without its keys, but with what it wrote to its configuration files. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface RedisServerOptions {
  readonly args?: readonly string[];
  /** Where another server was; otherwise a free one. */
  readonly port?: number;
  /** The lines of a configuration file that is the server's own to rewrite. */
  readonly config?: readonly string[];
}

const LOWEST_PORT = 10_240;
const PORTS = 11_760;
/** How far above its port a cluster node has its bus. */
const BUS = 10_000;

/**
 * Together with the port of a cluster bus. Below the ports that systems give to outgoing connections: it stays free for
 * a server that is to come back there.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST_PORT + randomInt(PORTS);
    if ((await isFree(port)) && (await isFree(port + BUS))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
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

/** Without persistence, on the loopback interface. */
export async function startRedisServer({ args = [], port, config }: RedisServerOptions = {}): Promise<RedisServer> {
  const chosen = port ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), 'floodgate-redis-'));
  const file = join(dir, 'redis.conf');
  if (config) writeFileSync(file, `${config.join('\n')}\n`);
  const fixed = ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir];
  const command = [...(config ? [file] : []), ...fixed, ...args];
  let child = await startProcess(command);
  return {
    port: chosen,
    url: `redis://127.0.0.1:${chosen}`,
    get pid() {
      return child.pid!;
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill: () => end(child),
    async restart() {
      await end(child);
      child = await startProcess(command);
    },
    async stop() {
      await end(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const IS_READY = /Ready to accept connections|Sentinel ID is/;

/** Resolves once the server takes connections. */
function startProcess(command: readonly string[]): Promise<ChildProcess> {
  const child = spawn(redisServerBinary(), command, { stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve, reject) => {
    let log = '';
    const onLog = (chunk: Buffer): void => {
      log += chunk.toString();
      if (IS_READY.test(log)) resolve(child);
    };
    child.stdout.on('data', onLog);
    child.stderr.on('data', onLog);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${log}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
