/**
 * The process that calls an application. A small loader of our own: it needs less of the core that it shares with Redis
 * than the load tools in JavaScript, is there on every machine, and looks at the status of each answer.
 */
import { answerQuestions } from '../../support/child.ts';
import { quantile } from '../statistics.ts';
import { Connection, getRequest } from './connection.ts';

const CONNECTIONS = 50;

export interface LoadOrder {
  readonly url: string;
  readonly forMs: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Us: number;
  readonly p99Us: number;
}

answerQuestions(async ({ url, forMs }: LoadOrder): Promise<LoadResult> => {
  const target = new URL(url);
  const statuses: Record<number, number> = {};
  const latenciesMs: number[] = [];
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(target)));
  const beginsAt = performance.now();
  const endsAt = beginsAt + forMs;
  const call = async (connection: Connection, i: number): Promise<void> => {
    // A client of its own behind each connection, for applications that tell users apart.
    const request = getRequest(target, { 'x-user': `user-${i}` });
    for (let sentAt = performance.now(); sentAt < endsAt;) {
      const status = await connection.send(request);
      statuses[status] = (statuses[status] ?? 0) + 1;
      const answeredAt = performance.now();
      latenciesMs.push(answeredAt - sentAt);
      sentAt = answeredAt;
    }
  };
  await Promise.all(connections.map(call));
  const seconds = (performance.now() - beginsAt) / 1_000;
  for (const connection of connections) connection.close();
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    requests: sorted.length,
    perSecond: sorted.length / seconds,
    statuses,
    p50Us: quantile(sorted, 0.5) * 1_000,
    p99Us: quantile(sorted, 0.99) * 1_000,
  };
});
