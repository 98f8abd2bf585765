import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { answerQuestions } from '../support/child.ts';
import { now } from './clock.ts';
import { watchStolenTime, type Theft } from './stolen-time.ts';

export interface LoadOrder {
  readonly url: string;
  readonly connections: number;
  /** Over all connections. */
  readonly callsPerSecond: number;
  /** So many connections call at one moment, and the same path: what meets in one process has to be told apart. */
  readonly together: number;
  /** Called in turn. */
  readonly paths: readonly string[];
}

export interface Visit {
  readonly path: string;
  readonly startedAt: number;
  /** When the whole answer was there. */
  readonly endedAt: number;
  /** 0 when there was no answer. */
  readonly status: number;
  /** When the handler ran, if it did. */
  readonly servedAt?: number;
}

export interface Load {
  readonly visits: readonly Visit[];
  readonly thefts: readonly Theft[];
}

const thefts = watchStolenTime();
let visits: Visit[] = [];
let goesOn = false;
let callers: Promise<unknown> = Promise.resolve();
let visitors = 0;

/** An order begins, without one the load ends. */
answerQuestions(async ({ order }: { order?: LoadOrder }): Promise<Load | string> => {
  if (order) {
    goesOn = true;
    visits = [];
    callers = run(order);
    return 'begun';
  }
  goesOn = false;
  await callers;
  return { visits, thefts };
});

async function run({ url, connections, callsPerSecond, together, paths }: LoadOrder): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const periodMs = (1_000 * connections) / callsPerSecond;
  const beginsAt = performance.now() + 100;
  const caller = async (_: unknown, i: number): Promise<void> => {
    // Opening connections is no matter of limits.
    await visit(agent, url, '/plain');
    const group = Math.floor(i / together);
    let due = beginsAt + (periodMs * group * together) / connections;
    for (let turn = group; goesOn; turn++) {
      await wait(Math.max(0, due - performance.now()));
      visits.push(await visit(agent, url, paths[turn % paths.length]!));
      due += periodMs * Math.ceil((performance.now() - due) / periodMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  agent.destroy();
}

/** From an address that nobody else has. */
function visit(agent: Agent, url: string, path: string): Promise<Visit> {
  const headers = { 'X-Forwarded-For': addressOf(visitors++) };
  const startedAt = now();
  return new Promise((resolve) => {
    const fail = (): void => resolve({ path, startedAt, endedAt: now(), status: 0 });
    const onAnswer = (answer: IncomingMessage): void => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('error', fail).on('end', () => {
        const servedAt = answer.statusCode === 200 ? (JSON.parse(text) as { at: number }).at : undefined;
        resolve({
          path,
          startedAt,
          endedAt: now(),
          status: answer.statusCode!,
          ...(servedAt !== undefined && { servedAt }),
        });
      });
    };
    get(`${url}${path}`, { agent, headers }, onAnswer).on('error', fail);
  });
}

const addressOf = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
